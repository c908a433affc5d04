package transaction

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

const moveSQL = `
	update loyalty.transaction
	set customer_id = @kept
	where tenant_id = @tenant_id
		and customer_id = @merged`

// Move moves the sales of a customer who is being merged, and returns their number. It waits for voids in
// progress.
func Move(ctx context.Context, tx *db.Tx, merged, kept core.ID) (int64, error) {
	if err := daily.MarkMove(tx, merged, kept); err != nil {
		return 0, err
	}
	return db.Exec(ctx, tx, moveSQL, db.Args{"merged": merged, "kept": kept})
}
