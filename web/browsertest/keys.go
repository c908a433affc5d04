package browsertest

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Press presses keys, as fast as people type.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.press(keys, .12)
}

// Scan presses keys as a handheld scanner does: faster than people, with Enter at the end.
func (p *Page) Scan(text string) {
	p.t.Helper()
	p.press(text+kb.Enter, .005)
	p.device.lastKey += .25 // people take a moment to look at what was scanned
}

// press presses keys with a pause between them, in seconds. The pauses are only in the times
// that the page is told: the test does not wait for them.
func (p *Page) press(keys string, pause float64) {
	p.t.Helper()
	next := p.nextKey(.12)
	p.Do(chromedp.KeyEvent(keys, func(k *input.DispatchKeyEventParams) {
		if isDown(k) {
			p.device.lastKey, next = next, next+pause
		}
		k.Timestamp = input.TimeSinceEpoch(p.device.lastKey)
	}))
}

// Stroke is keys of which each is pressed some time after the one before. They may reach the page late, if it was busy.
type Stroke struct {
	Keys  string
	After time.Duration
	Late  time.Duration
}

// Type presses keys in real time, for pages that also notice when no key comes. The page is told exact times,
// whatever else the machine is doing. The first key is pressed at once, half a second after earlier ones, and
// Type returns when the page has noticed that no more come.
func (p *Page) Type(strokes ...Stroke) {
	p.t.Helper()
	p.rest()
	at, first := p.nextKey(.5), true
	var steps []chromedp.Action[chromedp.Void]
	for _, s := range strokes {
		late := s.Late
		steps = append(steps, chromedp.KeyEvent(s.Keys, func(k *input.DispatchKeyEventParams) {
			if isDown(k) {
				if !first {
					at += s.After.Seconds()
				}
				first = false
				time.Sleep(max(0, time.Until(time.UnixMicro(int64(at*1e6)))) + late)
				late = 0
				p.device.lastKey = at
			}
			k.Timestamp = input.TimeSinceEpoch(at)
		}))
	}
	p.Do(steps...)
	p.silence()
}

// silence waits until timers of the page that began with the last key have fired, on a busy machine, too. A page
// that is being left has none, so errors don't matter.
func (p *Page) silence() {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_, _ = chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](silenceScript, chromedp.EvalAwaitPromise))
	p.rest()
}

// silenceScript has a second timer because the page's (static/js/handheld.js) has, too.
const silenceScript = "new Promise((done) => setTimeout(() => setTimeout(done, 50), 200))"

// nextKey is when the next key is pressed, not sooner than the pause, in seconds, after the last.
func (p *Page) nextKey(pause float64) float64 {
	return max(p.device.lastKey+pause, float64(time.Now().UnixMilli())/1000) //nolint:forbidigo // the clock that the browser uses
}

func isDown(k *input.DispatchKeyEventParams) bool {
	return k.Type == kb.KeyDown || k.Type == kb.KeyRawDown
}
