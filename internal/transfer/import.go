package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// ImportOptions say how documents are imported.
type ImportOptions struct {
	Way

	// Source says what is imported, and into what: an interrupted import goes on only with the same.
	Source string

	// Identity is that of the container, see Definition: another one has nothing of what a checkpoint speaks of.
	Identity string

	// Checkpoint is the file that says how far the import is; empty for none. It exists only while the import is under
	// way or interrupted.
	Checkpoint string

	// KeepCheckpoint leaves the checkpoint of an import that has ended, which says so: the same import then does
	// nothing until DropCheckpoint. So an import of several parts that was interrupted passes over those that are
	// complete.
	KeepCheckpoint bool

	// NewTarget says that the target was made just now: what a checkpoint of this import says is not true of it.
	NewTarget bool

	// Reject is the file that gets the documents that were not written, with their reasons; empty for none.
	Reject string

	// GenerateID is the member that documents without it get: "_id" for MongoDB, "id" for Cosmos DB, empty for none.
	// The values are the same when an import goes on, and in imports of the same Seed, 16 hexadecimal digits. If Seed
	// is empty, each import has another one.
	GenerateID, Seed string

	// StampMember is the member that carries kept stamps: StampMember or ItemStamp. If it is empty, it is the first of
	// them that a document has; but an item may have a `$ts` of its own.
	StampMember string

	// ChunkRows and ChunkBytes bound what is sent at once; 0 for the defaults.
	ChunkRows, ChunkBytes int

	// Progress may be nil.
	Progress Progress
}

// Defaults of a chunk. It is acknowledged when it is durable, so it is as large as one wants to wait for.
const (
	chunkRows  = 5_000
	chunkBytes = 4 << 20
)

// Total is what has become of all documents of an import.
type Total struct {
	Rows int64 `json:"rows"`
	Outcome
	Resumed int64 `json:"resumed,omitempty"` // of Rows, those that an interrupted run had done

	// Complete says that a run before this one had done everything, see ImportOptions.KeepCheckpoint.
	Complete bool `json:"completeBefore,omitempty"`

	// First are the first documents that this run has rejected, by their numbers in the source.
	First []Rejection `json:"firstRejections,omitempty"`
}

// maxFirst is the most that Total.First has.
const maxFirst = 5

// importState is the checkpoint of an import.
type importState struct {
	Version  int     `json:"version"`
	Source   string  `json:"source"`
	Identity string  `json:"identity,omitempty"` // of the container
	Way      Way     `json:"way"`
	Seed     string  `json:"seed"`    // of generated ids
	Rows     int64   `json:"rows"`    // acknowledged
	Sending  int64   `json:"sending"` // rows that may have been written without an acknowledgement
	Rejects  int64   `json:"rejects"` // bytes of the file of rejects
	Outcome  Outcome `json:"outcome"`
	Done     bool    `json:"done,omitempty"`
}

// errStopped is the error of an import that its caller ends.
var errStopped = errors.New("stopped")

// Import sends the documents of a source to a target, chunk by chunk. open opens the source from its beginning; it is
// called twice if stamps are kept, since their order has to be known first.
//
// An import that was interrupted, by an error, by the end of ctx, or by the end of the process, goes on when it is
// called again with the same options: after the last chunk that was acknowledged. Documents of a chunk that was on its
// way are sent again; those that are there already count as skipped.
func Import(ctx context.Context, open func() (Source, error), target Target, o ImportOptions) (Total, error) {
	m, err := newImport(target, o)
	if err != nil {
		return Total{}, err
	}
	if !m.complete {
		err = m.run(ctx, open)
	}
	err = errors.Join(err, m.rejects.close())
	if err == nil {
		err = m.end()
	}
	return m.total(), err
}

// An importRun is one run of an import.
type importRun struct {
	ImportOptions
	target   Target
	state    importState
	complete bool // by the run before
	resumed  int64
	until    int64 // rows up to here may have been written before this run
	rejects  *rejects
	ids      *generator
	source   Source
	first    []Rejection
}

func newImport(target Target, o ImportOptions) (*importRun, error) {
	if o.ChunkRows == 0 {
		o.ChunkRows = chunkRows
	}
	if o.ChunkBytes == 0 {
		o.ChunkBytes = chunkBytes
	}
	o.ChunkRows = min(o.ChunkRows, MaxRejections)
	m := &importRun{ImportOptions: o, target: target}
	found, err := loadCheckpoint(o.Checkpoint, &m.state)
	same := m.state.Source == o.Source && m.state.Way == o.Way && m.state.Version == 1
	there := m.state.Identity == o.Identity
	switch {
	case err != nil:
		return nil, err
	case found && !same && !m.state.Done: // one that has ended leaves nothing half done
		return nil, fmt.Errorf("%s is the checkpoint of another import, of %s with %s stamps and %s: "+
			"repeat that one, or delete the file", o.Checkpoint, m.state.Source, m.state.Way.Stamps,
			m.state.Way.OnConflict)
	case found && same && !there && !o.NewTarget:
		return nil, fmt.Errorf("%s is the checkpoint of an import into another container of this name, on another "+
			"server or from before it was made anew: delete the file to begin anew", o.Checkpoint)
	case !found || !same || !there || o.NewTarget:
		m.state = importState{
			Version: 1, Source: o.Source, Identity: o.Identity, Way: o.Way, Seed: cmp.Or(o.Seed, newSeed()),
		}
		if err := DropCheckpoint(o.Checkpoint); err != nil { // a run that ends soon must not leave what is not true
			return nil, err
		}
	}
	m.complete = m.state.Done
	m.resumed, m.until = m.state.Rows, m.state.Sending
	if m.ids, err = newGenerator(o.GenerateID, m.state.Seed); err != nil {
		return nil, err
	}
	m.rejects, err = openRejects(o.Reject, m.state.Rejects)
	return m, err
}

func (m *importRun) total() Total {
	return Total{
		Rows: m.state.Rows, Outcome: m.state.Outcome, Resumed: m.resumed, Complete: m.complete, First: m.first,
	}
}

// end removes the checkpoint, or says in it that the import is complete.
func (m *importRun) end() error {
	if !m.KeepCheckpoint {
		return DropCheckpoint(m.Checkpoint)
	}
	m.state.Done = true
	return saveCheckpoint(m.Checkpoint, &m.state)
}

func (m *importRun) run(ctx context.Context, open func() (Source, error)) (err error) {
	if m.Stamps == KeepStamps {
		open, err = inOrder(ctx, open, m.StampMember, m.Progress)
		if err != nil {
			return err
		}
	}
	if m.source, err = open(); err != nil {
		return err
	}
	err = m.skip(ctx)
	if err == nil {
		err = m.send(ctx)
	}
	return errors.Join(err, m.source.Close())
}

// skip passes over what is acknowledged.
func (m *importRun) skip(ctx context.Context) error {
	for i := range m.state.Rows {
		if _, err := m.source.Next(); err == io.EOF {
			return fmt.Errorf("%s has fewer documents than when its import began: %d of %d", m.Source, i, m.state.Rows)
		} else if err != nil {
			return err
		}
		if i%chunkRows == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	m.show()
	return nil
}

// send sends the rest. The next chunk is read while one is on its way.
func (m *importRun) send(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	chunks := make(chan *chunk)
	read := make(chan error, 1)
	go func() {
		defer close(chunks)
		read <- m.read(ctx, chunks)
	}()
	var err error
	for c := range chunks {
		if err = m.deliver(ctx, c); err != nil {
			cancel(errStopped)
			break
		}
	}
	cancel(errStopped)
	for range chunks { // so that the reader ends
	}
	if wrong := <-read; err == nil {
		err = wrong
	}
	return err
}

// A chunk is some documents that are sent at once.
type chunk struct {
	lines   []byte
	rows    int64
	numbers []int64 // in the source, of the lines
	ends    []int   // of the lines
	unread  []reject
	bytes   int64 // how far the source is behind it
	size    int64
}

// read makes chunks until the source ends. A chunk ends where the one ended that was on its way when the run before was
// interrupted, so that only those documents are sent as ones that may be there.
func (m *importRun) read(ctx context.Context, chunks chan<- *chunk) error {
	c, rows := &chunk{}, m.state.Rows
	give := func() error {
		c.bytes, c.size = m.source.Read()
		select {
		case chunks <- c:
			c = &chunk{lines: make([]byte, 0, len(c.lines)+len(c.lines)/8)}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for {
		row, err := m.source.Next()
		if err == io.EOF {
			if c.rows > 0 {
				return give()
			}
			return nil
		}
		if err != nil {
			if c.rows > 0 { // what was read before is sent
				err = errors.Join(err, give())
			}
			return err
		}
		if c.rows > 0 && len(c.lines)+len(row.Text) > m.ChunkBytes {
			if err := give(); err != nil {
				return err
			}
		}
		m.add(c, &row)
		if rows++; c.rows >= int64(m.ChunkRows) || rows == m.until {
			if err := give(); err != nil {
				return err
			}
		}
	}
}

// add appends a row to a chunk.
func (m *importRun) add(c *chunk, row *Row) {
	c.rows++
	if row.Reason != "" {
		c.unread = append(c.unread, reject{Line: row.Number, Reason: row.Reason, Text: string(row.Text)})
		return
	}
	c.lines = append(m.ids.complete(c.lines, row), '\n')
	c.numbers, c.ends = append(c.numbers, row.Number), append(c.ends, len(c.lines))
}

// deliver sends a chunk, and notes what has become of it.
func (m *importRun) deliver(ctx context.Context, c *chunk) error {
	m.state.Sending = max(m.until, m.state.Rows+c.rows)
	if err := saveCheckpoint(m.Checkpoint, &m.state); err != nil {
		return err
	}
	way := m.Way
	if m.state.Rows < m.until { // they may be there from the run before
		way.Resent = way.OnConflict == ReplaceExisting && way.Stamps == KeepStamps // nothing else follows from it
		if way.OnConflict == RejectExisting {
			way.OnConflict = SkipExisting
		}
	}
	var done Outcome
	if len(c.numbers) > 0 {
		var err error
		if done, err = m.target.Import(ctx, c.lines, way); err != nil {
			return fmt.Errorf("after %d documents: %w", m.state.Rows, err)
		}
	}
	list := c.unread
	for _, r := range done.Rejections {
		if r.Line < 1 || r.Line > len(c.numbers) {
			return fmt.Errorf("the answer is about line %d of %d", r.Line, len(c.numbers))
		}
		list = append(list, reject{Line: c.numbers[r.Line-1], Reason: r.Reason, Text: c.line(r.Line - 1)})
	}
	for _, r := range list[:min(len(list), maxFirst-len(m.first))] {
		m.first = append(m.first, Rejection{Line: int(r.Line), Reason: r.Reason})
	}
	var err error
	if m.state.Rejects, err = m.rejects.add(list); err != nil {
		return err
	}
	m.state.Rows += c.rows
	m.state.Outcome.add(&done, len(c.unread))
	if m.Progress != nil {
		m.Progress.Update(Status{Bytes: c.bytes, Total: c.size, Rows: m.state.Rows})
	}
	return nil
}

func (c *chunk) line(i int) string {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return string(c.lines[from : c.ends[i]-1])
}

// add sums outcomes up, without their lists.
func (o *Outcome) add(x *Outcome, unread int) {
	o.Lines += x.Lines + unread
	o.Written += x.Written
	o.Replaced += x.Replaced
	o.Skipped += x.Skipped
	o.Overdue += x.Overdue
	o.Rejected += x.Rejected + unread
}

func (m *importRun) show() {
	if m.Progress == nil {
		return
	}
	done, total := m.source.Read()
	m.Progress.Update(Status{Bytes: done, Total: total, Rows: m.state.Rows})
}
