package rest

import "net/http"

// listConflicts answers the feed of conflicts between regions. There is one
// region, so it is always empty.
func listConflicts(e *exchange) (int, error) {
	if _, err := e.pageSize(); err != nil {
		return 0, err
	}
	e.openFeed(containerRID(e.container), "Conflicts")
	e.closeFeed(0)
	return http.StatusOK, nil
}

// readConflict finds none.
func readConflict(*exchange) (int, error) { return 0, errMissing }

// deleteConflict finds none either. A conflict lies in the partition of its item, which has to be named.
func deleteConflict(e *exchange) (int, error) {
	if e.given(hPartitionKey) == "" && !hasSystemKey(e.container.State()) {
		return 0, errNoPartition
	}
	if _, err := pointPartition(e, e.container.State()); err != nil {
		return 0, err
	}
	return 0, errMissing
}
