package admin

import (
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An IndexBuild is one that a client has started by a change of the indexes, and that is under way.
type IndexBuild struct {
	Number              uint64
	Database, Container string
	Started             time.Time // zero if it goes on since before the start of mayfly
	Done, Total         int64     // documents
}

// buildPrefix begins the ids of index builds among the operations.
const buildPrefix = "index-build-"

// indexBuilds are the index builds as operations. They end with the change that has started them, and are not shown
// any longer.
func (a *admin) indexBuilds() []OperationState {
	list := []OperationState{}
	if a.IndexBuilds == nil {
		return list
	}
	for _, b := range a.IndexBuilds() {
		s := OperationState{
			ID: buildPrefix + strconv.FormatUint(b.Number, 10), Kind: "index build",
			Target: b.Database + "/" + b.Container, State: stateRunning, Started: b.Started,
			Done: b.Done, Total: b.Total, Unit: "documents",
		}
		if s.Started.IsZero() {
			s.Started = a.opened
		}
		s.Started = s.Started.UTC()
		s.Seconds = max(0, clock.Wall().Sub(s.Started).Round(time.Millisecond).Seconds())
		list = append(list, s)
	}
	return list
}

// indexBuild is the operation with the id of an index build; ok is false for another id.
func (a *admin) indexBuild(id string) (s OperationState, ok bool, err error) {
	if !strings.HasPrefix(id, buildPrefix) {
		return s, false, nil
	}
	for _, s := range a.indexBuilds() {
		if s.ID == id {
			return s, true, nil
		}
	}
	return s, true, errNoOperation(id)
}

// cancelBuild refuses to cancel an index build.
func cancelBuild(s OperationState) error {
	return fault.New(fault.Conflict,
		"an index build cannot be cancelled: drop the index of %s, or change its indexing policy back", s.Target)
}
