// Package transfer moves documents between files and a mayfly: it reads and writes JSON lines, JSON arrays, CSV, and
// the BSON folders and archives of mongodump, sends what it reads in chunks, and takes up interrupted work again. It
// is the client's side: it knows no server package. A Target is where chunks go, an Origin where lines come from;
// Remote is both, over the admin API. On the way a document is one line of JSON: the JSON of an item, or MongoDB's
// extended JSON.
package transfer

import (
	"context"
	"io"
)

// A Stamps says which stamps documents get.
type Stamps string

// Keep is the stamp that a document brings along in `_ts`, so that its life goes on. New is the present.
const (
	KeepStamps Stamps = "keep"
	NewStamps  Stamps = "new"
)

// An OnConflict says what happens to a document whose key a living document has.
type OnConflict string

// The ways to treat such a document.
const (
	SkipExisting    OnConflict = "skip"
	ReplaceExisting OnConflict = "replace"
	RejectExisting  OnConflict = "fail"
)

// An Outcome is what has become of a chunk of lines.
type Outcome struct {
	Lines    int `json:"lines"`
	Written  int `json:"written"`
	Replaced int `json:"replaced"` // of Written
	Skipped  int `json:"skipped"`  // a living document has the key, or the same document is there already
	Overdue  int `json:"overdue"`  // their life had ended; they are not written
	Rejected int `json:"rejected"`

	// Rejections say why lines were rejected, at most MaxRejections of them.
	Rejections []Rejection `json:"rejections,omitempty"`
}

// A Rejection is one line that was not written.
type Rejection struct {
	Line   int    `json:"line"` // in the chunk, from 1 on
	Reason string `json:"reason"`
}

// MaxRejections is the most rejections that one answer lists. A chunk of a client has no more lines.
const MaxRejections = 10_000

// MaxLine is the most bytes of one line. A document of MongoDB may have 16 MiB, and more than that as extended JSON.
const MaxLine = 48 << 20

// A Way says how the documents of a chunk are written.
type Way struct {
	Stamps     Stamps     `json:"stamps"`
	OnConflict OnConflict `json:"onConflict"`

	// Resent says that the documents of this chunk may have been written already.
	Resent bool `json:"-"`
}

// A Target takes chunks of lines. When it returns without an error, what it reports is durable.
type Target interface {
	Import(ctx context.Context, lines []byte, way Way) (Outcome, error)
}

// An Origin gives the documents of a container as lines, in the order of their last writes, and lines with positions in
// between. After is a position, or empty for the beginning.
type Origin interface {
	Export(ctx context.Context, after string) (io.ReadCloser, error)
}

// A Progress shows how far the work is. It is called about once for each chunk, from one goroutine.
type Progress interface {
	Update(Status)
}

// A Status is how far the work is.
type Status struct {
	Bytes, Total int64 // of the source; Total is 0 if it is unknown
	Rows         int64 // read or written so far, with those of an interrupted run
	Sorting      bool  // the source is read once to find the order of its stamps
}
