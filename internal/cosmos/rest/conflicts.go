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

// noConflict answers for one of them.
func noConflict(*exchange) (int, error) { return 0, errMissing }
