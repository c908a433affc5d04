package verify_test
import ("testing";"os";"fmt";"time";"context";"example.com/loyalty/core/db";"example.com/loyalty/core/verify")
func TestBig(t *testing.T) {
	url := os.Getenv("TRY"); if url=="" {t.Skip()}
	ctx := context.Background()
	if os.Getenv("MIGRATE") != "" { if _, err := db.Migrate(ctx, url); err != nil {t.Fatal(err)}; return }
	d, err := db.Open(ctx, url, db.Options{}); if err != nil {t.Fatal(err)}
	start := time.Now()
	rs, err := verify.Run(ctx, d)
	fmt.Println(time.Since(start), err)
	for _, r := range rs { fmt.Printf("%+v\n", r) }
}
