package portal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/singleflight"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/picture"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	keptBytes    = 16 << 20 // a thousand pictures of cards, or four thousand QR codes
	entryBytes   = 200      // of the memory that an entry takes beside its drawing
	drawAtOnce   = 16       // businesses; they take turns on half of the cores
	drawPatience = 5 * time.Second
	drawTime     = 15 * time.Second
	busyDrawing  = "Too many pages of this business are being opened right now. Try again in a few seconds."
)

// drawings are what pages of customers draw: icons, pictures of cards, QR codes. Anyone on the internet may
// ask for them, so a drawing is made once and kept by its content while there is room; and a business draws
// one at a time, so that a crowd at one business waits for itself.
type drawings struct {
	gate    *limit.Gate
	room    int // for bytes
	flights singleflight.Group

	mu   sync.Mutex
	kept *simplelru.LRU[string, drawing]
	used int
}

// drawing is a picture, or the path and the side of a QR code.
type drawing struct {
	kind  string // media type of a picture
	bytes []byte
	side  int
}

func newDrawings() *drawings { return drawingsOf(keptBytes, drawPatience) }

func drawingsOf(room int, patience time.Duration) *drawings {
	d := &drawings{gate: limit.NewGate(drawAtOnce, 1, patience, busyDrawing), room: room}
	d.kept, _ = simplelru.NewLRU(room, func(_ string, old drawing) { d.used -= old.size() }) // fails without room only
	return d
}

func (d drawing) size() int { return len(d.bytes) + entryBytes }

// get returns the drawing of this content, which is everything that it depends on, or draws it.
func (d *drawings) get(ctx context.Context, t core.TenantID, content string, draw func() (drawing, error)) (drawing, error) {
	return d.find(ctx, t, content, func(ctx context.Context) (drawing, error) { return d.once(ctx, t, draw) })
}

// find returns what is kept for this content, or loads it. Callers who ask for the same at the same time wait for
// one of them.
func (d *drawings) find(ctx context.Context, t core.TenantID, content string, load func(context.Context) (drawing, error)) (drawing, error) {
	key := contentKey(t, content)
	d.mu.Lock()
	found, isKept := d.kept.Get(key)
	d.mu.Unlock()
	if isKept {
		return found, nil
	}
	made, err, _ := d.flights.Do(key, func() (any, error) {
		// If the first caller leaves, the others still wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drawTime)
		defer cancel()
		return load(ctx)
	})
	if err != nil {
		return drawing{}, err
	}
	drawn := made.(drawing) //nolint:forcetypeassert // the function above returns one
	d.keep(key, drawn)
	return drawn, nil
}

// once draws what won't be asked for again, such as the code of a PIN.
func (d *drawings) once(ctx context.Context, t core.TenantID, draw func() (drawing, error)) (drawing, error) {
	leave, err := d.gate.Compute(ctx, t)
	if err != nil {
		return drawing{}, err
	}
	defer leave()
	return draw()
}

func (d *drawings) keep(key string, drawn drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept.Contains(key) {
		return
	}
	d.kept.Add(key, drawn)
	for d.used += drawn.size(); d.used > d.room; {
		d.kept.RemoveOldest()
	}
}

// stored returns a picture of the business that is in the database, and is asked for by every visitor.
func (d *drawings) stored(c echo.Context, f front, address string, read func(context.Context, core.Actor) (picture.Picture, error)) (picture.Picture, error) {
	found, err := d.find(c.Request().Context(), f.ID, address, func(ctx context.Context) (drawing, error) {
		p, err := read(ctx, core.System(f.Tenant, "customer pages"))
		return drawing{kind: p.Type, bytes: p.Bytes}, err
	})
	return picture.Picture{Type: found.kind, Bytes: found.bytes}, err
}

// contentKey is a hash: what is drawn can be secret, such as the link of a card. It belongs to one business, so
// that none waits for another's drawing.
func contentKey(t core.TenantID, content string) string {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(t)), content...)) //nolint:gosec // the same bits
	return string(sum[:])
}

// qr returns the QR code of a link that is shown again and again.
func (p *Portal) qr(ctx context.Context, f front, link, label string) (ui.QR, error) {
	drawn, err := p.drawings.get(ctx, f.ID, "qr "+link, func() (drawing, error) { return drawQR(link) })
	return ui.QR{Label: label, Size: drawn.side, Path: string(drawn.bytes)}, err
}

// qrOnce returns the QR code of a link that is used once.
func (p *Portal) qrOnce(ctx context.Context, f front, link, label string) (ui.QR, error) {
	drawn, err := p.drawings.once(ctx, f.ID, func() (drawing, error) { return drawQR(link) })
	return ui.QR{Label: label, Size: drawn.side, Path: string(drawn.bytes)}, err
}

func drawQR(link string) (drawing, error) {
	code, err := page.QR(link, "")
	return drawing{bytes: []byte(code.Path), side: code.Size}, err
}
