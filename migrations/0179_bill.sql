-- What vouchers leave of a bill, one after the other: first percentages, rounded half up, then amounts (coupon.BillFor). loyalty verify compares
-- it with what was counted, also on the nodes of a distributed database, which take no recursion within a statement.
-- +goose Up
-- +goose StatementBegin
create function loyalty.bill(total bigint, percents int, benefits bigint[]) returns table (n int, before bigint, remains bigint)
	language sql immutable parallel safe
begin atomic
	with recursive bill as (
		select 0 as n, total as before, total as remains
		union all
		select b.n + 1, b.remains,
			b.remains - least(b.remains, case when b.n < percents then round(b.remains * benefits[b.n + 1] / 100.0)::bigint else benefits[b.n + 1] end)
		from bill b
		where b.n < cardinality(benefits)
	)
	select b.n, b.before, b.remains
	from bill b
	where b.n > 0;
end
-- +goose StatementEnd
