package admin

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// stallTime is how long a client may take to send or to receive the next part of a stream. The server's limits on whole
// requests and answers do not hold for streams.
const stallTime = 30 * time.Second

// A flow is a stream that another goroutine may cut off while it waits for the client.
type flow struct {
	mu      sync.Mutex
	waiting bool
	cut     bool
}

// begin notes that a part is to be moved, after it has set the deadline for that.
func (f *flow) begin(setDeadline func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut {
		return errCutOff
	}
	f.waiting = true
	setDeadline()
	return nil
}

func (f *flow) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = false
}

// cutOff makes each further part fail, and the one that is being moved now.
func (f *flow) cutOff(setDeadline func(time.Time) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut = true; f.waiting {
		_ = setDeadline(clock.Wall())
	}
}

var (
	errCutOff    = errors.New("the stream was cut off")
	errSignedOut = errors.New("the key or the session of the client holds no more")
)

// An outflow is an answer that is sent part by part, for as long as the client receives each part in time.
type outflow struct {
	w    http.ResponseWriter
	turn *http.ResponseController
	flow flow
	may  func() bool // whether the client may have the next part; nil for always
}

func newOutflow(w http.ResponseWriter) *outflow {
	return &outflow{w: w, turn: http.NewResponseController(w)}
}

// Write sends a part when the buffers are full.
func (o *outflow) Write(part []byte) (n int, err error) {
	err = o.move(func() error {
		n, err = o.w.Write(part)
		return err
	})
	return n, err
}

// Flush sends what is in the buffers.
func (o *outflow) Flush() error { return o.move(o.turn.Flush) }

// move does what may wait for the client.
func (o *outflow) move(part func() error) error {
	// Without deadlines, as in a test's recorder, nobody is slow.
	err := o.flow.begin(func() { _ = o.turn.SetWriteDeadline(clock.Wall().Add(stallTime)) })
	if err != nil {
		return err
	}
	defer o.flow.end()
	return part()
}

// CutOff ends the stream, also while it waits for the client.
func (o *outflow) CutOff() { o.flow.cutOff(o.turn.SetWriteDeadline) }

// send sends a part at once, unless the client may not have it any more.
func (o *outflow) send(part string) error {
	if o.may != nil && !o.may() {
		return errSignedOut
	}
	if _, err := io.WriteString(o, part); err != nil {
		return err
	}
	return o.Flush()
}

// send answers with a stream. If f fails before its first byte, the client gets a problem, else a broken connection.
func (a *admin) send(w http.ResponseWriter, media string, f func(io.Writer) error) error {
	out := &begun{outflow: newOutflow(w), media: media}
	err := f(out)
	switch {
	case err == nil && !out.yes:
		_, err = out.Write(nil)
		return err
	case err != nil && out.yes:
		return errors.Join(errCut, err)
	}
	return err
}

// begun is an outflow that sends its header with the first part.
type begun struct {
	*outflow
	media string
	yes   bool
}

func (b *begun) Write(part []byte) (int, error) {
	if !b.yes {
		b.yes = true
		b.w.Header().Set("Content-Type", b.media)
		b.w.Header().Set("Cache-Control", "no-store")
		b.w.WriteHeader(http.StatusOK)
	}
	return b.outflow.Write(part)
}

// An inflow is a request body that is read part by part, for as long as the client sends each part in time.
type inflow struct {
	body io.Reader
	turn *http.ResponseController
	flow flow
}

func newInflow(w http.ResponseWriter, r *http.Request) *inflow {
	return &inflow{body: r.Body, turn: http.NewResponseController(w)}
}

// Read waits for the next part.
func (i *inflow) Read(p []byte) (int, error) {
	err := i.flow.begin(func() {
		deadline := clock.Wall().Add(stallTime)
		_ = i.turn.SetReadDeadline(deadline)
		_ = i.turn.SetWriteDeadline(deadline.Add(stallTime)) // for the answer
	})
	if err != nil {
		return 0, err
	}
	defer i.flow.end()
	return i.body.Read(p)
}

// CutOff ends the stream, also while it waits for the client. An answer can still be sent.
func (i *inflow) CutOff() { i.flow.cutOff(i.turn.SetReadDeadline) }
