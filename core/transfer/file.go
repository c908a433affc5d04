package transfer

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// A file is compressed lines of JSON: a Header, a row a line, and an end with a checksum of all before it.

// maxLine is the length of a line: the largest rows have a part of an uploaded file.
const maxLine = 64 << 20

// writer writes a file.
type writer struct {
	gzip *gzip.Writer
	out  *bufio.Writer
	sum  hash.Hash
	rows int64
}

func newWriter(w io.Writer) *writer {
	compressed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // fails for unknown levels
	return &writer{gzip: compressed, out: bufio.NewWriterSize(compressed, 1<<16), sum: sha256.New()}
}

// line writes the parts of a line.
func (w *writer) line(parts ...[]byte) error {
	for _, part := range append(parts, []byte("\n")) {
		w.sum.Write(part) // never fails, according to its documentation
		if _, err := w.out.Write(part); err != nil {
			return opaque(err)
		}
	}
	return nil
}

func (w *writer) header(h Header) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return w.line(text)
}

// row writes a row of a table whose name is quoted as in JSON.
func (w *writer) row(table, row []byte) error {
	w.rows++
	return w.line([]byte(`{"table":`), table, []byte(`,"row":`), row, []byte(`}`))
}

// close writes the end.
func (w *writer) close() error {
	text, err := json.Marshal(map[string]end{"end": {w.rows, w.sum.Sum(nil)}})
	if err != nil {
		return err
	}
	return errors.Join(w.line(text), w.out.Flush(), w.gzip.Close())
}

// reader reads a file and checks it.
type reader struct {
	Header
	in   *bufio.Reader
	sum  hash.Hash
	line []byte
	rows int64
	end  end // once all was read
}

// newReader reads the header.
func newReader(r io.Reader) (*reader, error) {
	uncompressed, err := gzip.NewReader(r)
	if err != nil {
		return nil, notOurs(err)
	}
	f := &reader{in: bufio.NewReaderSize(uncompressed, 1<<16), sum: sha256.New()}
	if err := f.read(); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.line, &f.Header); err != nil || f.Format == 0 || f.Slug == "" {
		return nil, ErrNotOurs
	}
	return f, nil
}

// notOurs returns the error for a file that doesn't begin as one should.
func notOurs(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrNotOurs
	}
	return unreadable(err)
}

func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
}

func unreadable(err error) error { return fmt.Errorf("read the file: %w", opaque(err)) }

// opaque returns the error of a file without its cause, such as io.ErrUnexpectedEOF, which would be taken for a lost connection to
// the database inside a transaction.
func opaque(err error) error { return errors.New(err.Error()) }

// read reads a line. The checksum has it, unless it is the end.
func (f *reader) read() error {
	f.line = f.line[:0]
	for {
		part, err := f.in.ReadSlice('\n')
		f.line = append(f.line, part...)
		switch {
		case len(f.line) > maxLine:
			return ErrDamaged
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ErrTruncated
		case isDamage(err):
			return ErrDamaged
		case err != nil:
			return unreadable(err)
		}
		if !bytes.HasPrefix(f.line, []byte(`{"end":`)) {
			f.sum.Write(f.line) // never fails, according to its documentation
		}
		return nil
	}
}

// next returns the next row, or io.EOF after the last one, if the file is as it was written.
func (f *reader) next() (row, error) {
	if err := f.read(); err != nil {
		return row{}, err
	}
	var line struct {
		row
		End *end `json:"end"`
	}
	if err := json.Unmarshal(f.line, &line); err != nil {
		return row{}, ErrDamaged
	}
	if line.End == nil {
		f.rows++
		return line.row, nil
	}
	f.end = *line.End
	if f.end.Rows != f.rows || !bytes.Equal(f.end.SHA256, f.sum.Sum(nil)) {
		return row{}, ErrDamaged
	}
	if _, err := f.in.ReadByte(); !errors.Is(err, io.EOF) {
		return row{}, ErrDamaged // something follows, or the checksum of the compression is wrong
	}
	return row{}, io.EOF
}

// all reads the rest of the file, and returns nil if it is as it was written.
func (f *reader) all() error {
	for {
		_, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
