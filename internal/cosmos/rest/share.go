package rest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A request has a share of the memory of the process: its body as it arrives, what is read from it, and the answer until the
// client has it. Requests that stay below budget.FreeBytes never come near the budget.

// piece is how much of a large body or answer passes between two looks at the client.
const piece = 64 << 10

// parsedFactor is how much memory a body takes once it is read, besides its text: as BSON, and as the record that it becomes.
const parsedFactor = 3

// answerPatience is how long a client may take for a piece of a large answer.
const answerPatience = 60 * time.Second

// Context is that of the request, with its share if it may write or compute for long. It is not pooled with the exchange: the timer of
// a context that was derived from it may ask it when the request is over.
func (e *exchange) Context() context.Context {
	if e.Method == http.MethodGet {
		return e.Request.Context()
	}
	if e.bound == nil {
		e.bound = budget.With(e.Request.Context(), &e.share)
	}
	return e.bound
}

// makeRoom makes the reply as large as the caller needs for n more bytes, from the share of the request. Those with large replies take turns.
func (e *exchange) makeRoom(n int) error {
	if len(e.reply) >= piece {
		if err := e.share.Yield(e.Context()); err != nil {
			return err
		}
	}
	if cap(e.reply)-len(e.reply) >= n {
		return nil
	}
	size := max(min(2*cap(e.reply), maxPage+piece), len(e.reply)+n)
	if err := e.share.Take(e.Context(), int64(size-cap(e.reply))); err != nil {
		return err
	}
	if err := e.share.Yield(e.Context()); err != nil {
		return err
	}
	e.reply = append(make([]byte, 0, size), e.reply...)
	return nil
}

// shown is about how many bytes an item takes in an answer.
func shown(body []byte) int { return len(body) + len(body)/4 + 512 }

// deliver writes the answer. The share keeps what a large one takes until the client has it; a client that takes
// nothing is cut when others need the memory.
func (e *exchange) deliver() {
	e.share.Rest()
	if len(e.reply) <= piece {
		e.writer.Write(e.reply) // a client that is gone needs no answer
		return
	}
	e.request = recycle(e.request)
	if surplus := e.share.Held() - int64(cap(e.reply)); surplus > 0 {
		e.share.Give(surplus)
	} else {
		e.share.TryTake(-surplus) // made already: without it a little is not counted
	}
	to := http.NewResponseController(e.writer)
	var cut atomic.Bool
	e.share.Lend(func() {
		cut.Store(true)
		to.SetWriteDeadline(clock.Wall())
	})
	for rest := e.reply; len(rest) > 0; {
		to.SetWriteDeadline(clock.Wall().Add(answerPatience))
		if cut.Load() {
			return
		}
		n, err := e.writer.Write(rest[:min(piece, len(rest))])
		if err != nil {
			return
		}
		rest = rest[n:]
		e.share.Progress()
	}
	if e.share.Keep() && http.NewResponseController(e.writer).Flush() == nil {
		to.SetWriteDeadline(time.Time{}) // of the connection's next answer
	}
}

var errCut = fault.New(fault.Busy, "The server is short of memory, and the rest of the request's body did not come. Try again.")

// cutBody ends the wait for a body.
func (e *exchange) cutBody() { http.NewResponseController(e.writer).SetReadDeadline(clock.Wall()) }

// retryAfter is after how many milliseconds a client that was refused for want of memory comes again. Clients of one moment are spread.
// SDKs try 9 times within 30 seconds if nobody sets them otherwise (Azure/azure-sdk-for-js:
// sdk/cosmosdb/cosmos/src/retry/resourceThrottleRetryPolicy.ts).
func retryAfter() string { return strconv.Itoa(500 + rand.IntN(1000)) }
