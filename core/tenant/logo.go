package tenant

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/picture"
)

// Sides of the icons for home screens, in pixels.
const (
	TouchIcon = 180
	SmallIcon = 192
	LargeIcon = 512
)

// IconSides are all of them.
var IconSides = []int{TouchIcon, SmallIcon, LargeIcon}

const (
	logoSide   = 1024 // pixels: a larger logo is scaled down
	mailSide   = 120  // pixels of a square logo in an e-mail: shown 40 high, so it is sharp on phones
	mailLogo   = "mail"
	iconPrefix = "icon-"
)

// logo is a logo with what is drawn from it.
type logo struct {
	*picture.Picture
	names []string
	drawn [][]byte
}

// readLogo reads an uploaded logo; nil: none.
func readLogo(ctx context.Context, by core.Actor, check *core.Check, file *[]byte) (*logo, error) {
	uploaded, err := picture.Read(ctx, by.Tenant.ID, check, "logo", file, logoSide)
	if uploaded == nil {
		return nil, err
	}
	return draw(ctx, by, uploaded)
}

// draw draws everything that is shown of a logo elsewhere than on pages. Icons keep to the middle, since
// devices cut off the corners. In e-mails, a wide logo has as many pixels as a square one, so that no e-mail
// gets too large.
func draw(ctx context.Context, by core.Actor, p *picture.Picture) (*logo, error) {
	shape := shapeOf(p)
	root := math.Sqrt(float64(shape))
	width, height := int(mailSide*root), int(mailSide/root)
	names := []string{mailLogo}
	places := []picture.Place{{Width: width, Height: height, MaxX: width, MaxY: height}}
	for _, side := range IconSides {
		names = append(names, iconName(side))
		places = append(places, picture.Place{Width: side, Height: side, MaxX: side * 7 / 10, MaxY: side * 7 / 10})
	}
	drawn, err := p.OnWhite(ctx, by.Tenant.ID, places)
	return &logo{p, names, drawn}, err
}

func iconName(side int) string { return iconPrefix + strconv.Itoa(side) }

func shapeOf(p *picture.Picture) core.LogoShape {
	width, height := p.Size()
	if width == nil {
		return core.ShapeOf(0, 0)
	}
	return core.ShapeOf(*width, *height)
}

func (l *logo) hexHash() *string {
	if l == nil {
		return nil
	}
	return l.HexHash()
}

func (l *logo) size() (width, height *int) {
	if l == nil {
		return nil, nil
	}
	return l.Size()
}

// write queues what is drawn from the logo, in place of what was drawn from the one before; nil: none.
func (l *logo) write(tx *db.Tx) error {
	if l == nil {
		return db.Queue(tx, deleteDrawingsSQL, nil)
	}
	return db.Queue(tx, writeDrawingsSQL, db.Args{"names": l.names, "hash": l.Hash(), "drawn": l.drawn})
}

// Logo returns the logo with a hash, or core.ErrNotFound.
func (s *Service) Logo(ctx context.Context, by core.Actor, hash string) (picture.Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return picture.Picture{}, core.ErrNotFound
	}
	return db.One[picture.Picture](ctx, s.db.Tenant(by), logoSQL, db.Args{"hash": sum})
}

// Icon returns the icon with a side of IconSides, of the logo with a hash, or core.ErrNotFound.
func (s *Service) Icon(ctx context.Context, by core.Actor, hash string, side int) (picture.Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return picture.Picture{}, core.ErrNotFound
	}
	return db.One[picture.Picture](ctx, s.db.Tenant(by), drawingSQL, db.Args{"name": iconName(side), "hash": sum})
}

// renewLogos is the job that writes logos anew that an earlier build stored, and draws from them.
type renewLogos struct{}

// Kind names the job in the queue.
func (renewLogos) Kind() string { return "renew_logos" }

const (
	renewEvery = 10 * time.Minute
	renewBatch = 50 // logos, some 0.2 s each, before other jobs of the lane get their turn
)

// RenewLogosEvery registers the job.
func (s *Service) RenewLogosEvery(jobs *job.Queue) {
	job.Handle(jobs, job.Upkeep, func(ctx context.Context, _ renewLogos) error { return s.RenewLogos(ctx) })
	job.Every(jobs, renewEvery, renewLogos{})
}

// RenewLogos renews the logos of a batch of businesses, each in its own transaction.
func (s *Service) RenewLogos(ctx context.Context) error {
	for range renewBatch {
		next, err := db.One[struct{ Tenant *int64 }](ctx, s.db.Platform(), undrawnSQL, nil)
		if err != nil || next.Tenant == nil {
			return err
		}
		if err := renewLogo(ctx, s.db, core.Tenant{ID: core.TenantID(*next.Tenant)}); err != nil {
			return err
		}
	}
	return job.Again(time.Second)
}

// renewLogo writes the logo of a business anew and draws from it, unless the owner replaces it meanwhile.
// A logo that can't be decoded stays as it is, and nothing is drawn from it.
func renewLogo(ctx context.Context, d *db.DB, t core.Tenant) error {
	by := core.System(t, "logos")
	stored, err := db.One[picture.Picture](ctx, d.Tenant(by), storedLogoSQL, nil)
	if err != nil {
		return err
	}
	renewed := &logo{Picture: &stored, names: []string{mailLogo}, drawn: [][]byte{nil}}
	rewritten, err := stored.Rewrite(ctx, t.ID, logoSide)
	switch {
	case err == nil:
		if renewed, err = draw(ctx, by, rewritten); err != nil {
			return err
		}
	case !errors.Is(err, picture.ErrBroken):
		return err
	}
	_, err = db.In(ctx, d.Tenant(by), func(tx *db.Tx) (struct{}, error) {
		width, height := renewed.size()
		replaced, err := db.Exec(ctx, tx, replaceLogoSQL, db.Args{
			"was": stored.Hash(), "logo": renewed.Bytes, "type": renewed.Type, "hash": renewed.Hash(), "width": width, "height": height,
		})
		if err != nil || replaced == 0 {
			return struct{}{}, err
		}
		return struct{}{}, renewed.write(tx)
	})
	return err
}
