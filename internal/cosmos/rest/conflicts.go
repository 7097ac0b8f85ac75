package rest

import "net/http"

// listConflicts answers the feed of conflicts between regions. It is always empty, because there is only one region.
func listConflicts(e *exchange) (int, error) {
	if _, err := e.pageSize(); err != nil {
		return 0, err
	}
	e.openFeed(containerRID(e.container), "Conflicts")
	e.closeFeed(0)
	return http.StatusOK, nil
}

// readConflict always answers 404, because there are no conflicts.
func readConflict(*exchange) (int, error) { return 0, errMissing }

// deleteConflict checks the partition key, as the service requires one, and then answers 404.
func deleteConflict(e *exchange) (int, error) {
	if e.given(hPartitionKey) == "" && !hasSystemKey(e.container.State()) {
		return 0, errNoPartition
	}
	if _, err := pointPartition(e, e.container.State()); err != nil {
		return 0, err
	}
	return 0, errMissing
}
