package db_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// asking returns an idempotent request.
func asking(key, body string) *core.Once[int64] {
	return &core.Once[int64]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(body))},
		Respond: func(result int64) (core.Response, error) {
			return core.Response{Status: 201, Body: fmt.Appendf(nil, `{"id": %d}`+"\n", result)}, nil
		},
	}
}

// try adds a branch by an idempotent request.
func (b business) try(ctx context.Context, once *core.Once[int64]) (core.Response, error) {
	reply, err := db.In(ctx, b.db.Tenant(b.by), db.Once(ctx, b.by, once, func(tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, openBranchSQL, db.Args{"name": once.Key})
	}))
	return core.OrZero(reply.Response), err
}

func (b business) answer(t *testing.T, key, body string) core.Response {
	t.Helper()
	got, err := b.try(t.Context(), asking(key, body))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// "The same key, caller and fingerprint within 24 hours returns the first answer,
// status and bytes."
func TestTheSameRequestGetsTheFirstResponse(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	first := b.answer(t, "order-1", "body")
	if first.Replayed || first.Status != 201 || len(first.Body) == 0 {
		t.Fatalf("first answer = %+v", first)
	}
	for range 3 {
		again := b.answer(t, "order-1", "body")
		if !again.Replayed || again.Status != first.Status || string(again.Body) != string(first.Body) {
			t.Errorf("again = %+v %s, want %s replayed", again, again.Body, first.Body)
		}
	}
	if other := b.answer(t, "order-2", "body"); other.Replayed || string(other.Body) == string(first.Body) {
		t.Errorf("another key = %s, want an answer of its own", other.Body)
	}
	b.wantNames(t, "order-1", "order-2")
}

// "Another fingerprint is 422."
func TestAKeyOfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	b.answer(t, "order-1", "body")
	if _, err := b.try(t.Context(), asking("order-1", "another body")); !errors.Is(err, core.ErrKeyReused) {
		t.Errorf("another request = %v, want ErrKeyReused", err)
	}
	if got := b.answer(t, "order-1", "body"); !got.Replayed {
		t.Error("the refusal lost the first answer")
	}
	b.wantNames(t, "order-1")
}

// "Still running is 409" while another transaction has the key.
func TestAKeyThatStillRunsIsRefused(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	running, finish, finished := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := db.In(t.Context(), b.db.Tenant(b.by), db.Once(t.Context(), b.by, asking("order-1", "body"), func(tx *db.Tx) (int64, error) {
			close(running)
			<-finish
			return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "order-1"})
		}))
		finished <- err
	}()
	<-running
	for _, body := range []string{"body", "another body"} {
		if _, err := b.try(t.Context(), asking("order-1", body)); !errors.Is(err, core.ErrKeyRunning) {
			t.Errorf("while it runs = %v, want ErrKeyRunning", err)
		}
	}
	b.answer(t, "order-2", "body") // another key is not held up
	close(finish)
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	if got := b.answer(t, "order-1", "body"); !got.Replayed {
		t.Error("after it ended its answer is not replayed")
	}
}

// "Only 2xx are kept; a refusal frees the key."
func TestARefusalFreesTheKey(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	rule := core.Refuse("no", "No.")
	_, err := db.In(t.Context(), b.db.Tenant(b.by), db.Once(t.Context(), b.by, asking("order-1", "body"), func(tx *db.Tx) (int64, error) {
		_, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "refused"})
		return 0, errors.Join(err, rule)
	}))
	if !errors.Is(err, rule) {
		t.Fatal(err)
	}
	if got := b.answer(t, "order-1", "a corrected body"); got.Replayed {
		t.Error("the refused request was kept")
	}
	b.wantNames(t, "order-1")
}

// "Just before commit renders and stores the answer, so that a crash can never part
// them": no answer, no effect.
func TestAResponseThatCannotBeRenderedUndoesTheEffect(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	broken := errors.New("broken template")
	once := asking("order-1", "body")
	once.Respond = func(int64) (core.Response, error) { return core.Response{}, broken }
	if _, err := b.try(t.Context(), once); !errors.Is(err, broken) {
		t.Errorf("try = %v, want the renderer's error", err)
	}
	b.wantNames(t)
	if got := b.answer(t, "order-1", "body"); got.Replayed {
		t.Error("the key was kept")
	}
}

// The response of a transaction that entered a tenant belongs to the platform.
func TestAResponseBelongsToThePlatform(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	by := b.by
	tenant := by.Tenant.ID
	by.Tenant = core.Tenant{}
	for _, replayed := range []bool{false, true} {
		reply, err := db.In(t.Context(), b.db.Platform(), db.Once(t.Context(), by, asking("order-1", "body"), func(tx *db.Tx) (int64, error) {
			if err := tx.Enter(tenant); err != nil {
				return 0, err
			}
			return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "order-1"})
		}))
		if err != nil || reply.Replayed() != replayed {
			t.Errorf("replayed %v: %v, %+v", replayed, err, reply)
		}
	}
	b.wantNames(t, "order-1")
	var own, platform int
	err := dbtest.Owner(b.db).QueryRow(t.Context(), `
		select count(*) filter (where tenant_id > 0), count(*) filter (where tenant_id = 0)
		from loyalty.idempotency
		where caller = $1`, "staff "+by.ID).Scan(&own, &platform)
	if err != nil || own != 0 || platform != 1 {
		t.Errorf("%d answers are the tenant's, %d the platform's, %v", own, platform, err)
	}
}

// "Within 24 hours": afterwards the key is free.
func TestAKeyIsFreeAfterADay(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	first := b.answer(t, "order-1", "body")
	now := b.db.Now()

	almost := business{b.db.At(now.Add(24*time.Hour - time.Minute)), b.by}
	if got := almost.answer(t, "order-1", "body"); !got.Replayed {
		t.Error("a minute before a day has passed: not replayed")
	}
	day := business{b.db.At(now.Add(24*time.Hour + time.Second)), b.by}
	second := day.answer(t, "order-1", "another body")
	if second.Replayed || string(second.Body) == string(first.Body) {
		t.Errorf("after a day = %s, want an answer of its own", second.Body)
	}
	if got := day.answer(t, "order-1", "another body"); !got.Replayed || string(got.Body) != string(second.Body) {
		t.Errorf("the second day's answer = %s, want %s replayed", got.Body, second.Body)
	}
	b.wantNames(t, "order-1", "order-1")
}

// "The same key, caller (token) …": two callers can use the same key.
func TestTwoCallersMayUseTheSameKey(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	b.answer(t, "order-1", "body")
	colleague := business{b.db, dbtest.Person(t, b.db, b.by, core.Cashier)}
	if got := colleague.answer(t, "order-1", "body"); got.Replayed {
		t.Error("a colleague was told another's answer")
	}
	stranger := newBusiness(t)
	stranger.by.ID, stranger.by.Kind = "4711", core.ByToken
	token := business{b.db, b.by}
	token.by.ID, token.by.Kind = "4712", core.ByToken
	if stranger.answer(t, "order-1", "body").Replayed || token.answer(t, "order-1", "body").Replayed {
		t.Error("a stranger was told another's answer")
	}
	b.wantNames(t, "order-1", "order-1", "order-1")
}

// Of many concurrent requests with one key, one has the effect. The others get its response or learn that it
// is running.
func TestManyAtOnceWithOneKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	const crowd = 50
	answers, errs := make([]core.Response, crowd), make([]error, crowd)
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() { answers[i], errs[i] = b.try(t.Context(), asking("order-1", "body")) })
	}
	wg.Wait()
	b.wantNames(t, "order-1")
	first := slices.IndexFunc(answers, func(a core.Response) bool { return a.Status != 0 && !a.Replayed })
	if first < 0 {
		t.Fatal("no request was first")
	}
	for i := range crowd {
		switch {
		case errors.Is(errs[i], core.ErrKeyRunning), i == first:
		case errs[i] != nil:
			t.Errorf("one of the crowd: %v", errs[i])
		case !answers[i].Replayed || string(answers[i].Body) != string(answers[first].Body):
			t.Errorf("one of the crowd was told %s, the first %s", answers[i].Body, answers[first].Body)
		}
	}
}

// Of many clicks on a form that waits, one has the effect, and all get its response.
func TestWaitingRequestGetsTheFirstResponse(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	waiting := func(body string) *core.Once[int64] {
		once := asking("form-1", body)
		once.Wait = true
		return once
	}
	const clicks = 15 // fewer than there are connections: each holds one while it waits
	answers := make([]core.Response, clicks)
	var wg sync.WaitGroup
	for i := range clicks {
		wg.Go(func() {
			var err error
			if answers[i], err = b.try(t.Context(), waiting("body")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.wantNames(t, "form-1")
	var first int
	for _, a := range answers {
		if !a.Replayed {
			first++
		}
		if string(a.Body) != string(answers[0].Body) || a.Status != 201 {
			t.Errorf("one was told %d %s, another %s", a.Status, a.Body, answers[0].Body)
		}
	}
	if first != 1 {
		t.Errorf("%d had the effect, want 1", first)
	}
	if _, err := b.try(t.Context(), waiting("another body")); !errors.Is(err, core.ErrKeyReused) {
		t.Errorf("the form with another text = %v, want ErrKeyReused", err)
	}
}

// A request that waited for a refused one is carried out.
func TestRequestAfterRefusalIsCarriedOut(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	rule := core.Refuse("no", "No.")
	running, finish := make(chan struct{}), make(chan struct{})
	finished, waited := make(chan error), make(chan error)
	go func() {
		_, err := db.In(t.Context(), b.db.Tenant(b.by), db.Once(t.Context(), b.by, asking("form-1", "body"), func(*db.Tx) (int64, error) {
			close(running)
			<-finish
			return 0, rule
		}))
		finished <- err
	}()
	<-running
	go func() {
		once := asking("form-1", "body")
		once.Wait = true
		_, err := b.try(t.Context(), once)
		waited <- err
	}()
	select {
	case err := <-waited:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(finish)
	if err := <-finished; !errors.Is(err, rule) {
		t.Error(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("who waited = %v", err)
	}
	b.wantNames(t, "form-1")
}

// DeleteOldResponses deletes only responses older than a day.
func TestOldResponsesAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	b := businessOf(t, d)
	old := business{d.At(d.Now().Add(-25 * time.Hour)), b.by}
	old.answer(t, "yesterday", "body")
	b.answer(t, "today", "body")

	forget := func() (int64, error) {
		return db.In(t.Context(), d.Platform(), func(tx *db.Tx) (int64, error) { return db.DeleteOldResponses(t.Context(), tx, 10) })
	}
	if forgotten, err := forget(); err != nil || forgotten != 1 {
		t.Errorf("ForgetAnswers = %d, %v, want 1", forgotten, err)
	}
	if got := b.answer(t, "today", "body"); !got.Replayed {
		t.Error("today's answer was forgotten")
	}
	if forgotten, err := forget(); err != nil || forgotten != 0 {
		t.Errorf("ForgetAnswers again = %d, %v, want 0", forgotten, err)
	}
}
