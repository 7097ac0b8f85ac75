package reaper

import (
	"time"

	"github.com/mayflydb/mayfly/internal/store"
)

// A ledger is what is known of the dead of one container: how many there are, and when they died. It counts in
// the machine's time, so that a virtual clock that jumps by a year makes no document wait for a year.
type ledger struct {
	toll           store.DeathCursor
	arrived, freed uint64
	deaths         []death // not freed yet, oldest first
	stuck          bool    // the last attempt to free some has failed
}

// A death is a look that has found dead documents.
type death struct {
	at    time.Duration
	total uint64 // arrived then
}

// most looks that a ledger tells apart; beyond that it counts later deaths to the newest one.
const mostDeaths = 4096

// arrive notes documents that have been found dead at a moment.
func (l *ledger) arrive(documents uint64, at time.Duration) {
	if documents == 0 {
		return
	}
	l.arrived += documents
	if n := len(l.deaths); n > 0 && (n == mostDeaths || l.deaths[n-1].at == at) {
		l.deaths[n-1].total = l.arrived
		return
	}
	l.deaths = append(l.deaths, death{at, l.arrived})
}

// free notes documents that have been freed. Those that nobody had counted are the surplus.
func (l *ledger) free(documents uint64) (surplus uint64) {
	l.freed += documents
	if l.freed > l.arrived {
		surplus, l.arrived = l.freed-l.arrived, l.freed
	}
	done := 0
	for done < len(l.deaths) && l.deaths[done].total <= l.freed {
		done++
	}
	l.deaths = append(l.deaths[:0], l.deaths[done:]...)
	return surplus
}

// settle notes that nothing is left: what is still counted has been written anew, or counted twice.
func (l *ledger) settle() {
	l.arrived, l.deaths = l.freed, l.deaths[:0]
}

func (l *ledger) backlog() uint64 { return l.arrived - l.freed }

// lag is for how long the oldest has waited.
func (l *ledger) lag(now time.Duration) time.Duration {
	if len(l.deaths) == 0 {
		return 0
	}
	return now - l.deaths[0].at
}
