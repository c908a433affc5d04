package limit

import (
	"context"
	"sync"
)

// Place is what a request holds while it is worked on. It is given back while the request waits for something
// slower than the work: its body, a gate for heavy work, its client.
type Place struct {
	enter func(context.Context) (leave func(), err error)

	mu    sync.Mutex
	leave func() // nil: not held
	ended bool
}

// NewPlace returns a place that is not held yet. enter waits for it.
func NewPlace(enter func(context.Context) (leave func(), err error)) *Place {
	return &Place{enter: enter}
}

// Take waits for the place, unless it is held or has ended.
func (p *Place) Take(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.leave != nil {
		return nil
	}
	leave, err := p.enter(ctx)
	p.leave = leave
	return err
}

// Leave gives the place back until it is taken again.
func (p *Place) Leave() { p.free(false) }

// End gives the place back for good.
func (p *Place) End() { p.free(true) }

func (p *Place) free(ends bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave != nil {
		p.leave()
	}
	p.leave, p.ended = nil, p.ended || ends
}

type placeKey struct{}

// WithPlace adds a request's place to its context. A gate for heavy work ends it: the gate admits fewer
// callers, and those who wait there must not keep a business's tills waiting.
func WithPlace(ctx context.Context, p *Place) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func endPlace(ctx context.Context) {
	if p, ok := ctx.Value(placeKey{}).(*Place); ok {
		p.End()
	}
}
