package admin

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits on wrong keys. An address has maxGuesses of them, and gets another one each guessTime. Beyond, no key that it
// sends is compared, right or wrong, so that guessing faster finds nothing. Sessions go on.
const (
	maxGuesses   = 20
	guessTime    = time.Second
	maxGuessers  = 10_000      // addresses told apart; all further ones together count as one
	guessWarning = time.Minute // the least time between two lines in the log about an address
)

// guesses counts wrong keys by the address of their sender. The zero value has seen none.
type guesses struct {
	mu    sync.Mutex
	by    map[netip.Prefix]*guesser
	swept clock.Stopwatch // when those that time has forgiven were forgotten, if there were too many
}

// A guesser is an address that has sent wrong keys.
type guesser struct {
	wrong  float64         // keys, less those that time has forgiven
	since  clock.Stopwatch // the last change of wrong
	warned *clock.Stopwatch
}

func (g *guesser) forgive() {
	g.wrong = max(0, g.wrong-float64(g.since.Elapsed())/float64(guessTime))
	g.since = clock.Start()
}

// try calls right, which compares a key that an address has sent, unless the address has sent too many wrong ones. warn
// says that this should be logged now.
func (g *guesses) try(address netip.Prefix, right func() bool) (ok, warn bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.by[address]
	if one == nil && len(g.by) >= maxGuessers {
		if g.sweep(); len(g.by) >= maxGuessers {
			address = netip.Prefix{}
			one = g.by[address]
		}
	}
	if one != nil {
		if one.forgive(); one.wrong > maxGuesses-1 {
			warn = one.warned == nil || one.warned.Elapsed() >= guessWarning
			if warn {
				watch := clock.Start()
				one.warned = &watch
			}
			return false, warn, fault.New(fault.Busy,
				"too many wrong keys came from this address: no key from it is looked at now, try again in a second")
		}
	}
	if right() {
		return true, false, nil
	}
	if one == nil {
		one = g.add(address)
	}
	one.wrong++
	return false, false, nil
}

// add begins to count the wrong keys of an address.
func (g *guesses) add(address netip.Prefix) *guesser {
	if g.by == nil {
		g.by = map[netip.Prefix]*guesser{}
	}
	one := &guesser{since: clock.Start()}
	g.by[address] = one
	return one
}

// sweep forgets the addresses that time has forgiven. It looks at all of them, so it does nothing more than once in a
// guessTime.
func (g *guesses) sweep() {
	if g.swept != (clock.Stopwatch{}) && g.swept.Elapsed() < guessTime {
		return
	}
	g.swept = clock.Start()
	for at, one := range g.by {
		if one.forgive(); one.wrong == 0 {
			delete(g.by, at)
		}
	}
}

// addressOf is the address of the sender of a request. One customer usually has a whole /64 of IPv6.
func addressOf(r *http.Request) netip.Prefix {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address := from.Addr().Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	network, _ := address.Prefix(bits)
	return network
}

// prove reports whether a text is an account key, and what its sender may do. fault.Busy if wrong ones came before.
func (a *admin) prove(r *http.Request, key string) (may rights, ok bool, err error) {
	ok, warn, err := a.guesses.try(addressOf(r), func() bool {
		read, write := a.Allowed(key)
		may.write = write
		return read || write
	})
	if warn {
		a.Logger.Warn("wrong account keys are sent to the admin API: keys from this address are refused for now",
			"address", r.RemoteAddr)
	}
	return may, ok, err
}
