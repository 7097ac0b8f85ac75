package admin

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// maxConnections is how many connections an answer lists.
const maxConnections = 1000

// A Connection is one that a client has opened to an address of the node.
type Connection struct {
	ID       string    `json:"id"`
	API      string    `json:"api"` // nosql, mongo or admin
	Remote   string    `json:"remote"`
	Since    time.Time `json:"since"`    // by the machine's clock
	Client   string    `json:"client"`   // what it calls itself: the User-Agent, or application and driver
	User     string    `json:"user"`     // of MongoDB; "" if it has not authenticated
	Requests int64     `json:"requests"` // since it was opened
	Active   int64     `json:"active"`   // requests that are running
}

// listConnections lists those first that have requests running, then the newest.
func (a *admin) listConnections(*http.Request) (any, error) {
	if a.Connections == nil {
		return nil, missing("list of connections")
	}
	list := a.Connections()
	slices.SortFunc(list, func(a, b Connection) int {
		busy := cmp.Compare(min(b.Active, 1), min(a.Active, 1))
		return cmp.Or(busy, b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
	answer := struct {
		Connections []Connection `json:"connections"`
		Total       int          `json:"total"`
	}{[]Connection{}, len(list)}
	answer.Connections = append(answer.Connections, list[:min(len(list), maxConnections)]...)
	return answer, nil
}
