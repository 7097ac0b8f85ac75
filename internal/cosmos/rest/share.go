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

// A request has a share of the memory of the process. It holds the body as it arrives, the data parsed from it, and
// the answer until the client has received it. Requests that stay below budget.FreeBytes never ask the budget.

// piece is how many bytes of a large body or answer are transferred between two checks of the client.
const piece = 64 << 10

// parsedFactor is how much memory a parsed body needs in addition to its text, as a multiple of the text: the BSON,
// and the record built from it.
const parsedFactor = 3

// writeTimeout is how long a client may take to receive one piece of a large answer.
const writeTimeout = 60 * time.Second

// Context is the request's context. If the request may write or compute for long, it carries the request's share. It
// is not pooled with the exchange, because the timer of a derived context may call it after the request has ended.
func (e *exchange) Context() context.Context {
	if e.Method == http.MethodGet {
		return e.Request.Context()
	}
	if e.bound == nil {
		e.bound = budget.With(e.Request.Context(), &e.share)
	}
	return e.bound
}

// growReply grows the reply for n more bytes, with memory from the request's share. Requests with large replies take
// turns.
func (e *exchange) growReply(n int) error {
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

// shown is roughly how many bytes an item takes in an answer.
func shown(body []byte) int { return len(body) + len(body)/4 + 512 }

// writeReply writes the answer. The share keeps the memory of a large answer until the client has received it. A client
// that reads nothing is disconnected when other requests need the memory.
func (e *exchange) writeReply() {
	e.share.Rest()
	if len(e.reply) <= piece {
		e.writer.Write(e.reply) // an error means that the client has gone away
		return
	}
	e.request = recycle(e.request)
	if surplus := e.share.Held() - int64(cap(e.reply)); surplus > 0 {
		e.share.Give(surplus)
	} else {
		e.share.TryTake(-surplus) // the reply exists already; if this fails, a few bytes are not counted
	}
	to := http.NewResponseController(e.writer)
	var cut atomic.Bool
	e.share.Lend(func() {
		cut.Store(true)
		to.SetWriteDeadline(clock.Wall())
	})
	for rest := e.reply; len(rest) > 0; {
		to.SetWriteDeadline(clock.Wall().Add(writeTimeout))
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
		to.SetWriteDeadline(time.Time{}) // for the next answer on this connection
	}
}

var errBodyCut = fault.New(fault.Busy,
	"The server is short of memory, and the rest of the request's body did not arrive. Try again.")

// abortBody makes the read of the body fail at once.
func (e *exchange) abortBody() { http.NewResponseController(e.writer).SetReadDeadline(clock.Wall()) }

// retryAfter is the delay in milliseconds before a client that was rejected for lack of memory should try again. It
// is random, so that clients do not return all at once. By default SDKs try 9 times within 30 seconds
// (Azure/azure-sdk-for-js: sdk/cosmosdb/cosmos/src/retry/resourceThrottleRetryPolicy.ts).
func retryAfter() string { return strconv.Itoa(500 + rand.IntN(1000)) }
