-- Of a business that its statistics don't know, PostgreSQL expects no rows, and then finds one customer's sales by reading those of all its
-- customers. By default a table is analyzed when a tenth of it changed: of ten million sales, a new business isn't known before the next million.
-- +goose Up
alter table loyalty.account set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.audit_entry set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.consent set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.customer set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.customer_import_problem set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.customer_key set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.customer_tag set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.customer_year set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.ledger_entry set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.level_change set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.lot set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.pin set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.redemption set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.refund set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.transaction set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.voucher set (autovacuum_analyze_scale_factor = 0.002);
alter table loyalty.voucher_mail set (autovacuum_analyze_scale_factor = 0.002);
