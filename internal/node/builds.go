package node

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/store"
)

// builds lists the index builds that are under way, the newest first; none while a snapshot is
// loaded, which has ended those of the data before: the list of operations, which shows how far that is, does not wait.
func (n *Node) builds() (list []admin.IndexBuild) {
	if !n.gate.tryEnter() {
		return nil
	}
	defer n.gate.Leave()
	builds := n.store.Builds()
	slices.SortFunc(builds, func(a, b store.Build) int { return cmp.Compare(b.Number, a.Number) })
	for _, b := range builds {
		list = append(list, admin.IndexBuild{
			Number: b.Number, Database: b.Container.Database.Name, Container: b.Container.State().Name,
			Started: b.Since, Done: b.Done, Total: b.Total,
		})
	}
	return list
}

// watchBuilds gives a store the time for its builds.
func watchBuilds(st *store.Store) { st.SetWall(clock.Wall) }
