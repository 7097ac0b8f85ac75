package rest

import (
	"fmt"
	"math"
	"net/http"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of throughput in request units per second. Throughput is stored and returned, but never enforced.
const (
	minThroughput  = 400
	maxThroughput  = 1_000_000
	throughputStep = 100
	minAutopilot   = 1000
	autopilotStep  = 1000
)

// A throughput is the content of an offer: manual or autopilot. The zero throughput means that there is no offer.
type throughput struct {
	manual    int64
	autopilot doc.Doc // {"maxThroughput":n,…}, nil for manual
	ever      int64   // the largest throughput that the offer ever had, 0 for a new one
}

// throughputOf is the throughput of an offer.
func throughputOf(r *catalog.Resource) (t throughput) {
	t.manual, _ = doc.AsInt(doc.Lookup(r.Body, "offerThroughput"))
	t.autopilot = docOf(r.Body, "offerAutopilotSettings")
	t.ever, _ = doc.AsInt(doc.Lookup(docOf(r.Body, "offerMinimumThroughputParameters"), "maxThroughputEverProvisioned"))
	return t
}

// most is the maximum of autopilot, or the manual throughput.
func (t throughput) most() int64 {
	if t.autopilot != nil {
		return maxThroughputOf(t.autopilot)
	}
	return t.manual
}

// maxThroughputOf is the maximum in autopilot settings, or 0.
func maxThroughputOf(settings doc.Doc) int64 {
	n, _ := doc.AsInt(doc.Lookup(settings, "maxThroughput"))
	return n
}

// throughput parses the throughput headers of a create request.
func (e *exchange) throughput() (t throughput, err error) {
	settings := e.given(hAutopilot)
	n, manual, err := e.count(hOfferThroughput)
	switch {
	case err != nil:
		return t, err
	case manual && settings != "":
		return t, errBothSettings
	case manual:
		t.manual = int64(n)
		return t, t.check()
	case settings == "":
		return t, nil
	}
	d, err := doc.FromJSON(nil, []byte(settings), doc.ParseOptions{MaxBytes: maxText})
	if err != nil {
		return t, invalidProperty("x-ms-cosmos-offer-autopilot-settings", "an object such as {\"maxThroughput\":4000}")
	}
	return autopilot(doc.Object(d))
}

// containerThroughput is throughput for a container. Without headers the container uses its database's offer, or else
// gets 400 of its own.
func (e *exchange) containerThroughput() (throughput, error) {
	t, err := e.throughput()
	if err != nil || t.manual != 0 {
		return t, err
	}
	if _, err := e.api.catalog.OfferOf(catalog.Owner{Database: e.database.ID}); err == nil {
		return t, nil
	}
	return throughput{manual: minThroughput}, nil
}

func (t throughput) check() error {
	if t.manual < minThroughput || t.manual > maxThroughput || t.manual%throughputStep != 0 {
		return wrongThroughput(minThroughput, throughputStep)
	}
	return nil
}

func wrongThroughput(least, step int) error {
	return fault.New(fault.Invalid,
		"The offer should have valid throughput values between %d and %d inclusive in increments of %d.", least,
		maxThroughput, step)
}

var autopilotShape = object(
	property{"maxThroughput", whole(math.MinInt32, math.MaxInt32), true},
	property{"autoUpgradePolicy", object(property{"throughputPolicy", object(
		property{"incrementPercent", whole(0, 1000), true},
	), false}), false},
)

// autopilot parses autopilot settings. Such an offer starts at a tenth of its maximum.
func autopilot(v doc.Value) (t throughput, err error) {
	if v, err = autopilotShape("offerAutopilotSettings", v); err != nil {
		return t, err
	}
	t.autopilot, _ = doc.AsDoc(v)
	most := maxThroughputOf(t.autopilot)
	if most < minAutopilot || most > maxThroughput || most%autopilotStep != 0 {
		return t, wrongThroughput(minAutopilot, autopilotStep)
	}
	t.manual = most / 10
	return t, nil
}

// body is the `content` of the offer, or nil.
func (t throughput) body() doc.Doc {
	if t.manual == 0 {
		return nil
	}
	d := doc.With(nil, "offerThroughput", doc.Int(t.manual))
	d = doc.With(d, "offerIsRUPerMinuteThroughputEnabled", doc.Bool(false))
	least := doc.With(nil, "maxThroughputEverProvisioned", doc.Int(max(t.ever, t.most())))
	least = doc.With(least, "maxConsumedStorageEverInKB", doc.Int(0))
	d = doc.With(d, "offerMinimumThroughputParameters", doc.Object(least))
	if t.autopilot != nil {
		d = doc.With(d, "offerAutopilotSettings", doc.Object(t.autopilot))
	}
	return d
}

func listOffers(e *exchange) (int, error) {
	return answerFeed(e, rid{}, "Offers", e.api.catalog.Resources(catalog.Offer, catalog.Owner{}), resourceNumber,
		func(r *catalog.Resource) error { e.appendOffer(r); return nil })
}

func readOffer(e *exchange) (int, error) {
	r, err := e.findOffer()
	if err != nil {
		return 0, err
	}
	return e.answerOffer(r)
}

// findOffer finds the offer of the path and checks the request's conditions.
func (e *exchange) findOffer() (*catalog.Resource, error) {
	id, ok := parseRID(e.name)
	if !ok || id.offer == 0 {
		return nil, fault.New(fault.Invalid,
			"Failed to parse the value '%s' as ResourceId. Use the _rid or _self of an offer.", clip(e.name))
	}
	r, err := e.api.catalog.ResourceByNumber(catalog.Offer, id.offer)
	if err != nil {
		return nil, errMissing
	}
	return r, e.checkConditions(resourceVersion(r))
}

func replaceOffer(e *exchange) (int, error) {
	old, err := e.findOffer()
	if err != nil {
		return 0, err
	}
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	if err := checkOffer(old, d); err != nil {
		return 0, err
	}
	have := throughputOf(old)
	t, err := e.requestedThroughput(have, docOf(d, "content"))
	if err != nil {
		return 0, err
	}
	t.ever = max(have.ever, have.most())
	r, err := e.api.catalog.ReplaceResource(e.audited(), e.now, old, old.Name, t.body())
	if err != nil {
		return 0, e.conflictIfUnconditional(err)
	}
	e.charge(9.9)
	return e.answerOffer(r)
}

// checkOffer rejects a body without the offer's ids, or with those of another offer or owner.
func checkOffer(old *catalog.Resource, d doc.Doc) error {
	id := offerRID(old.Number).String()
	var missing []string
	for _, m := range []struct {
		name, want string
		required   bool
	}{{"id", id, true}, {"_rid", id, true}, {"offerResourceId", targetRID(old.Target).String(), false}} {
		switch {
		case !present(d, m.name) && m.required:
			missing = append(missing, m.name)
		case present(d, m.name) && textOf(d, m.name) != m.want:
			return invalidProperty(m.name, "the same as that of the offer in the request's path")
		}
	}
	if missing != nil {
		return required(missing...)
	}
	return nil
}

func targetRID(t catalog.Owner) rid { return rid{database: t.Database, container: t.Container} }

func targetLinks(t catalog.Owner) []link {
	links := []link{{"dbs", rid{database: t.Database}}}
	if t.Container != 0 {
		links = append(links, link{"colls", targetRID(t)})
	}
	return links
}

func (e *exchange) answerOffer(r *catalog.Resource) (int, error) {
	e.put(outOfferPending, valueNotPending)
	e.put(outMinThroughput, valueMinThroughput)
	if settings := docOf(r.Body, "offerAutopilotSettings"); settings != nil {
		e.set(outMinThroughput, fmt.Sprint(minAutopilot))
	}
	e.etag(resourceVersion(r))
	e.appendOffer(r)
	return http.StatusOK, nil
}

// appendOffer renders an offer. SDKs find it by offerResourceId.
func (e *exchange) appendOffer(r *catalog.Resource) {
	id := offerRID(r.Number)
	b := append(e.reply, `{"resource":"`...)
	b = appendLink(b, targetLinks(r.Target)...)
	b = append(b, `","offerType":"Invalid"`...)
	b = appendRID(b, "offerResourceId", targetRID(r.Target))
	b = append(b, `,"offerVersion":"V2","content":`...)
	b = doc.AppendJSON(b, throughputOf(r).body())
	b = appendRID(b, "id", id)
	b = appendRID(b, "_rid", id)
	b = appendSelf(b, link{"offers", id})
	b = appendETagMember(b, resourceVersion(r))
	e.reply = append(appendStamp(b, r.Stamp), '}')
}
