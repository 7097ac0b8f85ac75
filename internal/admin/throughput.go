package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A throughput is what a container has of its own, in request units per second: manual, or the most that autoscale may
// use. Both are 0 for a container that shares the throughput of its database, or has none. It is stored and limits
// nothing.
type throughput struct {
	Manual    int64 `json:"throughput,omitempty"`
	Autoscale int64 `json:"autoscaleMaxThroughput,omitempty"`
}

// An offer is the resource of the API for NoSQL that holds the throughput of a container:
// https://learn.microsoft.com/rest/api/cosmos-db/offers
type offer struct {
	ID      string       `json:"id"`
	RID     string       `json:"_rid"`
	Target  string       `json:"offerResourceId"`
	Version string       `json:"offerVersion"`
	Content offerContent `json:"content"`
}

type offerContent struct {
	Throughput int64      `json:"offerThroughput,omitempty"`
	Autopilot  *autopilot `json:"offerAutopilotSettings,omitempty"`
}

type autopilot struct {
	Max int64 `json:"maxThroughput"`
}

func (o *offer) throughput() throughput {
	switch {
	case o == nil:
		return throughput{}
	case o.Content.Autopilot != nil:
		return throughput{Autoscale: o.Content.Autopilot.Max}
	}
	return throughput{Manual: o.Content.Throughput}
}

// offerOf is the offer of a container, nil if it has none.
func (a *admin) offerOf(ctx context.Context, c *catalog.Container) (*offer, error) {
	if isMongo(c) {
		return nil, fault.New(fault.Unsupported, "a collection of MongoDB has no throughput here")
	}
	sent, err := a.nosql(ctx, nosqlCall{method: http.MethodGet, steps: stepsOf(c)})
	if err != nil {
		return nil, err
	}
	var container struct {
		RID string `json:"_rid"`
	}
	if err := json.Unmarshal(sent.body, &container); err != nil {
		return nil, err
	}
	return a.offerFor(ctx, container.RID)
}

// offerFor looks through the feed of offers, page by page.
func (a *admin) offerFor(ctx context.Context, target string) (*offer, error) {
	call := nosqlCall{method: http.MethodGet, steps: []string{"offers"}, header: http.Header{}}
	for {
		sent, err := a.nosql(ctx, call)
		if err != nil {
			return nil, err
		}
		var page struct{ Offers []offer }
		if err := json.Unmarshal(sent.body, &page); err != nil {
			return nil, err
		}
		for _, o := range page.Offers {
			if o.Target == target {
				return &o, nil
			}
		}
		next := sent.header.Get("X-Ms-Continuation")
		if next == "" {
			return nil, nil
		}
		call.header.Set("X-Ms-Continuation", next)
	}
}

func (a *admin) showThroughput(r *http.Request) (any, error) {
	c, err := a.container(r)
	if err != nil {
		return nil, err
	}
	o, err := a.offerOf(r.Context(), c)
	return o.throughput(), err
}

// setThroughput takes {"throughput": 400} or {"autoscaleMaxThroughput": 4000}, and switches between the two. The API
// for NoSQL changes the mode in one request and the number in the next.
func (a *admin) setThroughput(w http.ResponseWriter, r *http.Request) error {
	c, err := a.container(r)
	if err != nil {
		return err
	}
	wanted, err := read[struct {
		Throughput             int64
		AutoscaleMaxThroughput int64
	}](r, `{"throughput": 400} or {"autoscaleMaxThroughput": 4000}`)
	if err != nil {
		return err
	}
	if (wanted.Throughput == 0) == (wanted.AutoscaleMaxThroughput == 0) {
		return fault.New(fault.Invalid, "send one of throughput and autoscaleMaxThroughput")
	}
	o, err := a.offerOf(r.Context(), c)
	if err != nil {
		return err
	}
	if o == nil {
		return fault.New(fault.Invalid, "the container has no throughput of its own: it is given at creation")
	}
	autoscale := wanted.AutoscaleMaxThroughput != 0
	before := *o
	if autoscale != (o.Content.Autopilot != nil) {
		mode := "X-Ms-Cosmos-Migrate-Offer-To-Manual-Throughput"
		if autoscale {
			mode = "X-Ms-Cosmos-Migrate-Offer-To-Autopilot"
		}
		if o, err = a.replaceOffer(r.Context(), o, http.Header{mode: {"true"}}); err != nil {
			return err
		}
	}
	o.Content = offerContent{Throughput: wanted.Throughput}
	if autoscale {
		o.Content.Autopilot = &autopilot{wanted.AutoscaleMaxThroughput}
	}
	changed, err := a.replaceOffer(r.Context(), o, nil)
	if err != nil {
		if autoscale != (before.Content.Autopilot != nil) {
			a.restoreOffer(r.Context(), before, o)
		}
		return err
	}
	a.write(w, http.StatusOK, changed.throughput())
	return nil
}

// restoreOffer takes back a change of mode whose number was refused, so that a bad request changes nothing.
func (a *admin) restoreOffer(ctx context.Context, before offer, now *offer) {
	mode := "X-Ms-Cosmos-Migrate-Offer-To-Manual-Throughput"
	now.Content = offerContent{Autopilot: &autopilot{1000}}
	if before.Content.Autopilot != nil {
		mode = "X-Ms-Cosmos-Migrate-Offer-To-Autopilot"
		now.Content = offerContent{Throughput: 400}
	}
	back, err := a.replaceOffer(ctx, now, http.Header{mode: {"true"}})
	if err == nil {
		back.Content = before.Content
		_, err = a.replaceOffer(ctx, back, nil)
	}
	if err != nil {
		a.Logger.Error("a change of throughput could not be taken back", "offer", before.ID, "error", err)
	}
}

func (a *admin) replaceOffer(ctx context.Context, o *offer, header http.Header) (*offer, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	sent, err := a.nosql(ctx, nosqlCall{
		method: http.MethodPut, steps: []string{"offers", o.ID}, header: header, body: body,
	})
	if err != nil {
		return nil, err
	}
	var changed offer
	return &changed, json.Unmarshal(sent.body, &changed)
}
