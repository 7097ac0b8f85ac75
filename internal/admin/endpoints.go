package admin

import (
	"net/http"
	"time"
)

// Endpoints is where a client reaches the APIs, and what it needs to know to connect. An API that is off has "".
type Endpoints struct {
	NoSQL string `json:"nosql"` // an URL
	Mongo string `json:"mongo"` // a connection string, without user and password
	Admin string `json:"admin"` // an URL
	// CA is the URL of the certificate authority that mayfly has made, "" if it has made none, or has no API for NoSQL.
	CA string `json:"ca"`
	// Key is the account key if everybody knows it, else "".
	Key       string    `json:"key"`
	MongoAuth bool      `json:"mongoAuth"` // clients of MongoDB have to authenticate
	Memory    bool      `json:"memory"`    // all data is in memory only
	Engine    string    `json:"engine"`    // that keeps the data, such as pebble
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"` // by the machine's clock
}

func (a *admin) showEndpoints(r *http.Request) (any, error) {
	if a.Endpoints == nil {
		return nil, missing("endpoints")
	}
	return a.Endpoints(r), nil
}
