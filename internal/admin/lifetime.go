package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxRetries is how often a change of lifetime is tried again because another change of the container came first.
const maxRetries = 5

// A lifetimeState is the policy of a container as the API answers it.
type lifetimeState struct {
	Lifetime
	// Dates are the TTL indexes of MongoDB on dates.
	Dates []dateRule `json:"dates,omitempty"`
	ETag  string     `json:"_etag,omitempty"` // of the container
	// Effect says what a change has ended, such as "3 items expired by this change".
	Effect string `json:"effect,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// A dateRule says that documents end seconds after the earliest date in a field.
type dateRule struct {
	Index   string `json:"index"`
	Field   string `json:"field"`
	Seconds int32  `json:"expireAfterSeconds"`
}

func (a *admin) showLifetime(r *http.Request) (any, error) {
	c, err := a.container(r)
	if err != nil {
		return nil, err
	}
	return lifetimeOf(c.State()), nil
}

func lifetimeOf(st *catalog.State) lifetimeState {
	s := lifetimeState{Lifetime: Lifetime{Property: st.TTLProperty}}
	if st.TTL != expiry.Unset {
		seconds := int64(st.TTL)
		s.DefaultTTL = &seconds
	}
	for _, x := range st.Named {
		if x.Expires {
			s.Dates = append(s.Dates, dateRule{x.Name, x.Columns[0].Path, x.Seconds})
		}
	}
	return s
}

// setLifetime takes {"defaultTtl": 90, "ttlPropertyPath": "/a"}, and nothing else of the definition changes. defaultTtl
// must be there: null means that nothing expires.
func (a *admin) setLifetime(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	members, err := read[map[string]json.RawMessage](r, `{"defaultTtl": 90}`)
	if err != nil {
		return err
	}
	if err := checkLifetime(members); err != nil {
		return err
	}
	answer, err := a.changeDefinition(r.Context(), c, conditions(r), members)
	if err != nil {
		return err
	}
	s := lifetimeOf(c.State())
	s.ETag = answer.header.Get("Etag")
	s.Effect, s.Hint = answer.header.Get("X-Mayfly-Ttl-Effect"), answer.header.Get("X-Mayfly-Hint")
	a.write(w, http.StatusOK, s)
	return nil
}

func checkLifetime(members map[string]json.RawMessage) error {
	if _, ok := members["defaultTtl"]; !ok {
		return fault.New(fault.Invalid, "defaultTtl is missing: a number of seconds, -1, or null for no expiry")
	}
	for name := range members {
		if name != "defaultTtl" && name != "ttlPropertyPath" {
			return fault.New(fault.Invalid, "a lifetime has defaultTtl and ttlPropertyPath, but no member %q", name)
		}
	}
	return nil
}

// changeDefinition replaces members of a definition; null removes one. Without conditions it is tried again when
// another change of the container came first.
func (a *admin) changeDefinition(
	ctx context.Context, c *catalog.Container, when http.Header, members map[string]json.RawMessage,
) (*nosqlAnswer, error) {
	for try := 0; ; try++ {
		now, err := a.nosql(ctx, nosqlCall{method: http.MethodGet, steps: stepsOf(c)})
		if err != nil {
			return nil, err
		}
		var definition map[string]json.RawMessage
		if err := json.Unmarshal(now.body, &definition); err != nil {
			return nil, err
		}
		delete(definition, "defaultTtl")
		delete(definition, "ttlPropertyPath")
		for name, value := range members {
			if string(value) != "null" {
				definition[name] = value
			}
		}
		body, err := json.Marshal(definition)
		if err != nil {
			return nil, err
		}
		header := when
		if len(when) == 0 {
			header = http.Header{"If-Match": {now.header.Get("Etag")}}
		}
		answer, err := a.nosql(ctx, nosqlCall{method: http.MethodPut, steps: stepsOf(c), body: body, header: header})
		if fault.KindOf(err) != fault.Precondition || len(when) > 0 || try == maxRetries {
			return answer, err
		}
	}
}
