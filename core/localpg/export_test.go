package localpg

import (
	"context"
	"time"
)

var RoomyTemp = roomyTemp

// StartLooking is Start with upgrades looked for so often.
func StartLooking(ctx context.Context, dir string, every time.Duration) (*Cluster, error) {
	return startLooking(ctx, Config{Dir: dir}, every)
}
