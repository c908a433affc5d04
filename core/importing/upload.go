package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

// The limits of a file, and the size of the pieces it is stored in.
const (
	MaxSize = 20 << 20
	MaxRows = 100_000

	maxColumns  = 100
	maxRecord   = 64 << 10
	pieceSize   = 1 << 20
	maxFileName = 255
	maxFormKey  = 100
	// maxWaiting is how many files of a tenant may be uploaded or imported at once: 60 MB, stored
	// in the database.
	maxWaiting = 3
)

// What is wrong with a file as a whole.
var (
	errNoFile    = core.Invalid(core.Fields{"file": {core.Required}})
	errEmptyFile = refuseFile("empty_file", 0)
	errNoRows    = refuseFile("no_rows", 0)
	errTooBig    = refuseFile("max_megabytes", MaxSize>>20)
	errTooMany   = refuseFile("max_rows", MaxRows)
	errTooWide   = refuseFile("max_columns", maxColumns)
	errWorkbook  = refuseFile("workbook", 0)
	errNotText   = refuseFile("not_csv", 0)
	errWaiting   = refuseFile("max_waiting", maxWaiting) // waiting files are deleted after a day (uploadKept)
	errErased    = refuseFile("erased_meanwhile", 0)     // DiscardWaiting deleted it while it arrived
)

func refuseFile(rule string, limit int64) *core.Error {
	return core.Invalid(core.Fields{"file": {{Rule: rule, Limit: limit}}})
}

// File is a file to be imported.
type File struct {
	Name    string
	Content io.Reader
	FormKey string // of the upload form: submitted twice, it is one import
}

// Upload stores a file while it arrives, counts its rows, and refuses a file that can't be read as
// a whole. It creates no customers.
func (s *Service) Upload(ctx context.Context, by core.Actor, f File) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	if err := customer.RequireCountry(by); err != nil {
		return Import{}, err
	}
	check := core.NewCheck(nil)
	key := check.Text("form_key", &f.FormKey, maxFormKey)
	if err := check.Err(); err != nil {
		return Import{}, err
	}
	id := core.NewID(s.db.Now())
	arrived, err := s.receive(ctx, by, id, f)
	if err == nil {
		arrived["form_key"] = key
		var i Import
		i, err = db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Import, error) {
			arrived["now"] = tx.Now
			return db.One[Import](ctx, tx, arrivedSQL, arrived)
		})
		if err == nil {
			return i, nil
		}
	}
	// If this fails, the upkeep job deletes the incomplete file.
	_, _ = db.In(context.WithoutCancel(ctx), s.db.Tenant(by), func(tx *db.Tx) (int, error) {
		return 0, db.Queue(tx, deleteIncompleteSQL, db.Args{"id": id})
	})
	switch {
	case db.Violates(err, "customer_import_form"):
		return db.One[Import](ctx, s.db.Tenant(by), findImportByFormSQL, db.Args{"form_key": key})
	case isGone(err), errors.Is(err, core.ErrNotFound):
		return Import{}, errErased
	case errors.Is(err, errWaiting):
		// One of the waiting files may be this form's, submitted twice.
		if i, found := db.One[Import](ctx, s.db.Tenant(by), findImportByFormSQL, db.Args{"form_key": key}); found == nil {
			return i, nil
		}
	}
	return Import{}, err
}

// receive stores a file and returns the arguments that describe it.
func (s *Service) receive(ctx context.Context, by core.Actor, id core.ID, f File) (db.Args, error) {
	if f.Content == nil {
		return nil, errNoFile
	}
	in := &arriving{from: f.Content, buffer: make([]byte, pieceSize), store: func(seq int64, piece []byte) error {
		_, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (int, error) {
			if seq == 0 {
				if err := addIncomplete(tx, by, id, f.Name); err != nil {
					return 0, err
				}
			}
			return 0, db.Queue(tx, storePieceSQL, db.Args{"id": id, "seq": seq, "content": piece})
		})
		if seq == 0 && isGone(err) {
			return errWaiting
		}
		return err
	}}
	first, err := in.next()
	if errors.Is(err, io.EOF) {
		return nil, errEmptyFile
	}
	if err != nil {
		return nil, err
	}
	text := format{Encoding: UTF8}
	if in.utf16 != "" {
		text.Encoding = in.utf16
	}
	if text.Delimiter, err = text.guessDelimiter(first); err != nil {
		return nil, err
	}
	rows, err := readRecords(&pieces{next: in.next, rest: first}, text, 0, 0)
	if err != nil {
		return nil, err
	}
	var beginning layout
	dates, total := dateColumns{}, int64(0)
	for {
		rec, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if total++; total <= previewRows {
			beginning = append(beginning, rec.kept())
		}
		dates.add(rec)
		if total > MaxRows+previewRows {
			return nil, errTooMany
		}
	}
	header := beginning.header()
	columns := beginning.columns(header)
	switch {
	case total == 0:
		return nil, errEmptyFile
	case total == 1 && beginning[0].Broken != nil:
		return nil, core.Invalid(core.Fields{"file": {*beginning[0].Broken}})
	case total == header:
		return nil, errNoRows
	case total-header > MaxRows:
		return nil, errTooMany
	case columns > maxColumns:
		return nil, errTooWide
	}
	if in.utf16 == "" {
		text.Encoding = in.letters.encoding(by.Tenant.Country)
	}
	settled, err := json.Marshal(dates)
	return db.Args{
		"id": id, "size": in.size, "delimiter": text.Delimiter, "encoding": text.Encoding,
		"columns": columns, "records": total, "header_record": header, "dates": string(settled),
	}, err
}

// guessDelimiter guesses the separator from the beginning of a file.
func (f format) guessDelimiter(first []byte) (string, error) {
	const enough = 64 << 10
	beginning := first[:min(len(first), enough)]
	decoded, err := io.ReadAll(f.Encoding.decode(bytes.NewReader(bytes.TrimPrefix(beginning, []byte(f.Encoding.mark())))))
	return guessDelimiter(string(decoded)), err
}

// addIncomplete queues the import of a file that begins to arrive, unless too many are waiting: then
// the file's first piece violates its foreign key (isGone).
func addIncomplete(tx *db.Tx, by core.Actor, id core.ID, name string) error {
	if err := db.Queue(tx, lockUploadsSQL, nil); err != nil {
		return err
	}
	return db.Queue(tx, insertIncompleteSQL, db.Args{
		"id": id, "file_name": fileName(name), "most": maxWaiting,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}

// isGone reports whether a piece of a file was refused because its import doesn't exist.
func isGone(err error) bool { return db.Violates(err, "customer_import_chunk_import") }

// fileName returns a file's name without the folders that some browsers send.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "?"), `\`, "/"))
	letters := []rune(strings.ReplaceAll(name, "\x00", ""))
	return string(letters[:min(len(letters), maxFileName)])
}

// arriving stores a file piece by piece, before it is read.
type arriving struct {
	from   io.Reader
	buffer []byte
	store  func(seq int64, piece []byte) error
	size   int64

	utf16   Encoding // "": something else
	letters letters
}

// next stores the next piece and returns it, until the following call.
func (a *arriving) next() ([]byte, error) {
	n, err := fill(a.buffer, a.from)
	if n == 0 || (err != nil && !errors.Is(err, io.EOF)) {
		return nil, err
	}
	piece := a.buffer[:n]
	if a.size+int64(n) > MaxSize {
		return nil, errTooBig
	}
	isFirst := a.size == 0
	if isFirst {
		a.utf16 = guessUTF16(piece)
	}
	if err := a.refuseOtherFormats(piece, isFirst); err != nil {
		return nil, err
	}
	if err := a.store(a.size/pieceSize, piece); err != nil {
		return nil, err
	}
	a.size += int64(n)
	a.letters.add(piece, isFirst)
	return piece, nil
}

// fill reads until the piece is full or the file ends. Unlike io.ReadFull, it tells the end of the
// file from a broken connection.
func fill(piece []byte, from io.Reader) (n int, err error) {
	for n < len(piece) && err == nil {
		var read int
		read, err = from.Read(piece[n:])
		n += read
	}
	return n, err
}

// refuseOtherFormats refuses a file that is no CSV file, whatever its name.
func (a *arriving) refuseOtherFormats(piece []byte, isFirst bool) error {
	begins := func(marks ...string) bool {
		start := strings.ToLower(strings.TrimSpace(string(piece[:min(len(piece), 64)])))
		return isFirst && slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(start, mark) })
	}
	switch {
	case isFirst && (bytes.HasPrefix(piece, []byte("PK\x03\x04")) || bytes.HasPrefix(piece, []byte("\xD0\xCF\x11\xE0"))):
		return errWorkbook
	case a.utf16 != "":
		return nil
	case bytes.IndexByte(piece, 0) >= 0, begins("%pdf", "{\\rtf", "<!doctype", "<html", "<?xml", "<table"):
		return errNotText
	}
	return nil
}
