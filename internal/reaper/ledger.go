package reaper

import (
	"time"

	"github.com/mayflydb/mayfly/internal/store"
)

// A ledger counts the expired documents of one container, and remembers when they were found. It uses the machine's
// time, so that a jump of a virtual clock by a year does not count as a year of waiting.
type ledger struct {
	toll           store.DeathCursor
	arrived, freed uint64
	deaths         []death // not freed yet, oldest first
	stuck          bool    // the last attempt to free documents has failed
}

// A death is a look that has found expired documents.
type death struct {
	at    time.Duration
	total uint64 // the value of arrived after it
}

// mostDeaths limits how many looks a ledger tells apart. Beyond it, the newest one takes later documents, too.
const mostDeaths = 4096

// arrive notes documents that a look has found.
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

// free notes documents that have been freed. surplus is how many of them had not been counted before.
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

// settle notes that no expired document is left: those that are still counted were written anew, or counted twice.
func (l *ledger) settle() {
	l.arrived, l.deaths = l.freed, l.deaths[:0]
}

func (l *ledger) backlog() uint64 { return l.arrived - l.freed }

// lag is how long the oldest document has waited.
func (l *ledger) lag(now time.Duration) time.Duration {
	if len(l.deaths) == 0 {
		return 0
	}
	return now - l.deaths[0].at
}
