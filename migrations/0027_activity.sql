-- What the panel reads again and again, each by an index that ends where its page does.
-- +goose Up

-- Who did what: each action by itself, and each by whom. A filter is a handful of these.
create index audit_entry_of_action on loyalty.audit_entry (tenant_id, action, id);
create index audit_entry_of_actor on loyalty.audit_entry (tenant_id, actor_kind, actor_id, action, id);

-- What was taken back lately, whenever it was made.
create index transaction_voided_at on loyalty.transaction (tenant_id, voided_at, id) where status = 'voided';
create index redemption_voided_at on loyalty.redemption (tenant_id, voided_at, id) where status = 'voided';
