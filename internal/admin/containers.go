package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Pages of containers.
const (
	pageContainers = 100
	maxContainers  = 1000
)

// The dialects as the API shows them.
const (
	dialectNoSQL = "nosql"
	dialectMongo = "mongodb"
)

// listContainers takes ?max=100&continuation=...
func (a *admin) listContainers(r *http.Request) (any, error) {
	db, err := a.database(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	most, err := number(query.Get("max"), pageContainers, maxContainers, "max")
	if err != nil {
		return nil, err
	}
	after := uint64(0)
	if text := query.Get("continuation"); text != "" {
		if after, err = strconv.ParseUint(text, 10, 32); err != nil {
			return nil, errContinuation
		}
	}
	page := struct {
		Containers   []containerState `json:"containers"`
		Continuation string           `json:"continuation,omitempty"`
	}{Containers: []containerState{}}
	all := a.Catalog().Containers(db)
	at, _ := slices.BinarySearchFunc(all, after+1, func(c *catalog.Container, id uint64) int {
		return cmp.Compare(uint64(c.ID), id)
	})
	for i, c := range all[at:] {
		if i == most {
			page.Continuation = strconv.FormatUint(uint64(all[at+i-1].ID), 10)
			break
		}
		state, err := a.stateOf(r.Context(), c)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		page.Containers = append(page.Containers, state)
	}
	return page, nil
}

var errContinuation = fault.New(fault.Invalid, "send the continuation that came with the page before, unchanged")

// isGone reports whether a container was deleted while it was looked at.
func isGone(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.OwnerNotFound
}

func (a *admin) showContainer(r *http.Request) (any, error) {
	c, err := a.container(r)
	if err != nil {
		return nil, err
	}
	return a.stateOf(r.Context(), c)
}

// createContainer takes the definition of a container, as showContainer answers it. For MongoDB that is the id, the
// options of the command create, and indexes.
func (a *admin) createContainer(w http.ResponseWriter, r *http.Request) error {
	db, err := a.database(r)
	if err != nil {
		return err
	}
	text, head, err := readDefinition(r)
	if err != nil {
		return err
	}
	switch head.Dialect {
	case "", dialectNoSQL:
		call := nosqlCall{method: http.MethodPost, steps: []string{"dbs", db.Name, "colls"}, body: text}
		if n := head.Partitions; n != nil {
			call.header = http.Header{"X-Mayfly-Partitions": {strconv.FormatInt(*n, 10)}}
		}
		_, err = a.nosql(r.Context(), call)
	case dialectMongo:
		// create would be content with the same options
		if _, taken := a.Catalog().Container(db, head.ID); taken == nil {
			return fault.New(fault.Exists, "there is a container %q already", head.ID)
		}
		err = a.createCollection(r.Context(), db.Name, head)
	default:
		err = fault.New(fault.Invalid, "the dialect is %s or %s, not %q", dialectNoSQL, dialectMongo, head.Dialect)
	}
	if err != nil {
		return err
	}
	c, err := a.Catalog().Container(db, head.ID)
	if err != nil {
		return err
	}
	state, err := a.stateOf(r.Context(), c)
	if err != nil {
		return err
	}
	w.Header().Set("Location", Base+"/databases/"+url.PathEscape(db.Name)+"/containers/"+url.PathEscape(head.ID))
	a.write(w, http.StatusCreated, state)
	return nil
}

// replaceContainer takes a changed definition.
func (a *admin) replaceContainer(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	text, head, err := readDefinition(r)
	if err != nil {
		return err
	}
	if have := int64(len(c.State().Ranges())); head.Partitions != nil && *head.Partitions != have && !isMongo(c) {
		return fault.New(fault.Invalid, "the container has %d partitions and keeps them: leave the member out, or "+
			"make another container", have)
	}
	call := nosqlCall{method: http.MethodPut, steps: stepsOf(c), body: text, header: conditions(r)}
	var answer *nosqlAnswer
	if isMongo(c) {
		answer, err = a.replaceCollection(r.Context(), c, head, call)
	} else {
		answer, err = a.nosql(r.Context(), call)
	}
	if err != nil {
		return err
	}
	state, err := a.stateOf(r.Context(), c)
	if err != nil {
		return err
	}
	state.Effect = answer.header.Get("X-Mayfly-Ttl-Effect")
	state.Hint = answer.header.Get("X-Mayfly-Hint")
	a.write(w, http.StatusOK, state)
	return nil
}

func (a *admin) deleteContainer(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	if st := c.State(); st.Dialect == catalog.Mongo {
		_, err = a.mongo(r.Context(), c.Database.Name, bson.D{{Key: "drop", Value: st.Name}})
	} else {
		_, err = a.nosql(r.Context(), nosqlCall{method: http.MethodDelete, steps: stepsOf(c), header: conditions(r)})
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// stepsOf is the path of a container in the API for NoSQL, with further steps.
func stepsOf(c *catalog.Container, further ...string) []string {
	return append([]string{"dbs", c.Database.Name, "colls", c.State().Name}, further...)
}

// conditions are the conditions of a request, for the API for NoSQL.
func conditions(r *http.Request) http.Header {
	h := http.Header{}
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if values := r.Header[name]; len(values) > 0 {
			h[name] = values
		}
	}
	return h
}

// A definitionHead is what the admin API itself reads of a definition.
type definitionHead struct {
	ID         string            `json:"id"`
	Dialect    string            `json:"dialect"`
	DefaultTTL *int64            `json:"defaultTtl"`
	Partitions *int64            `json:"partitions"`
	Options    json.RawMessage   `json:"options"`
	Indexes    []json.RawMessage `json:"indexes"`
}

func readDefinition(r *http.Request) (text json.RawMessage, head definitionHead, err error) {
	text, err = read[json.RawMessage](r, `{"id": "carts", "partitionKey": {"paths": ["/customer"]}}`)
	if err == nil && json.Unmarshal(text, &head) != nil {
		err = fault.New(fault.Invalid, "the definition of a container is an object with texts for id and dialect, "+
			"whole numbers for defaultTtl and partitions, an object for options and an array for indexes")
	}
	return text, head, err
}
