package rest

import (
	"fmt"
	"math"
	"net/http"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of throughput in request units per second. It is kept and given
// back, never enforced.
const (
	minThroughput  = 400
	maxThroughput  = 1_000_000
	throughputStep = 100
	minAutopilot   = 1000
	autopilotStep  = 1000
)

// A throughput is what an offer holds: manual or autopilot. The zero
// throughput is none.
type throughput struct {
	manual    int64
	autopilot doc.Doc // {"maxThroughput":n,…}, nil for manual
}

// throughput reads what the headers of a create ask for.
func (e *exchange) throughput() (t throughput, err error) {
	settings := e.given(hAutopilot)
	n, manual, err := e.count(hOfferThroughput)
	switch {
	case err != nil:
		return t, err
	case manual && settings != "":
		return t, fault.New(fault.Invalid, "The headers x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings cannot be given both. Send one of them.")
	case manual:
		t.manual = int64(n)
		return t, t.check()
	case settings == "":
		return t, nil
	}
	d, err := doc.FromJSON(nil, []byte(settings), doc.ParseOptions{MaxBytes: maxText})
	if err != nil {
		return t, misshapen("x-ms-cosmos-offer-autopilot-settings", "an object such as {\"maxThroughput\":4000}")
	}
	return autopilot(doc.Object(d))
}

// containerThroughput is throughput for a container, which shares its
// database's, or else has 400 of its own.
func (e *exchange) containerThroughput() (throughput, error) {
	t, err := e.throughput()
	if err != nil || t.manual != 0 {
		return t, err
	}
	if _, err := e.door.catalog.OfferOf(catalog.Owner{Database: e.database.ID}); err == nil {
		return t, nil
	}
	return throughput{manual: minThroughput}, nil
}

func (t throughput) check() error {
	if t.manual < minThroughput || t.manual > maxThroughput || t.manual%throughputStep != 0 {
		return fault.New(fault.Invalid, "The offer should have valid throughput values between %d and %d inclusive in increments of %d.", minThroughput, maxThroughput, throughputStep)
	}
	return nil
}

var autopilotShape = object(
	property{"maxThroughput", whole(minAutopilot, maxThroughput), true},
	property{"autoUpgradePolicy", object(property{"throughputPolicy", object(
		property{"incrementPercent", whole(0, 1000), true},
	), false}), false},
)

// autopilot reads autopilot settings. Such an offer starts at a tenth of its maximum.
func autopilot(v doc.Value) (t throughput, err error) {
	if v, err = autopilotShape("offerAutopilotSettings", v); err != nil {
		return t, err
	}
	t.autopilot, _ = doc.AsDoc(v)
	most, _ := doc.AsInt(doc.Lookup(t.autopilot, "maxThroughput"))
	if most%autopilotStep != 0 {
		return t, fault.New(fault.Invalid, "The autopilot maximum throughput must be between %d and %d inclusive in increments of %d.", minAutopilot, maxThroughput, autopilotStep)
	}
	t.manual = most / 10
	return t, nil
}

// body is the `content` of the offer, nil for none.
func (t throughput) body() doc.Doc {
	if t.manual == 0 {
		return nil
	}
	d := doc.With(nil, "offerThroughput", doc.Int(t.manual))
	d = doc.With(d, "offerIsRUPerMinuteThroughputEnabled", doc.Bool(false))
	least := doc.With(nil, "maxThroughputEverProvisioned", doc.Int(t.manual))
	least = doc.With(least, "maxConsumedStorageEverInKB", doc.Int(0))
	d = doc.With(d, "offerMinimumThroughputParameters", doc.Object(least))
	if t.autopilot != nil {
		d = doc.With(d, "offerAutopilotSettings", doc.Object(t.autopilot))
	}
	return d
}

func listOffers(e *exchange) (int, error) {
	return listing(e, rid{}, "Offers", e.door.catalog.Resources(catalog.Offer, catalog.Owner{}), resourceNumber,
		func(r *catalog.Resource) error { e.appendOffer(r); return nil })
}

func readOffer(e *exchange) (int, error) {
	r, err := e.findOffer()
	if err != nil {
		return 0, err
	}
	return e.answerOffer(r)
}

// findOffer looks for the offer of the path and decides the conditions.
func (e *exchange) findOffer() (*catalog.Resource, error) {
	id, ok := parseRID(e.name)
	if !ok || id.offer == 0 {
		return nil, errMissing
	}
	r, err := e.door.catalog.ResourceByNumber(catalog.Offer, id.offer)
	if err != nil {
		return nil, errMissing
	}
	return r, e.stale(resourceVersion(r))
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
	if err := sameOffer(old, d); err != nil {
		return 0, err
	}
	t, err := offered(docOf(d, "content"))
	if err != nil {
		return 0, err
	}
	r, err := e.door.catalog.ReplaceResource(e.Context(), e.now, old, old.Name, t.body())
	if err != nil {
		return 0, e.raced(err)
	}
	e.charge(9.9)
	return e.answerOffer(r)
}

// offered reads the content of an offer that a client sends back.
func offered(content doc.Doc) (throughput, error) {
	if present(content, "offerAutopilotSettings") {
		return autopilot(doc.Lookup(content, "offerAutopilotSettings"))
	}
	v, err := whole(math.MinInt32, math.MaxInt32)("content.offerThroughput", doc.Lookup(content, "offerThroughput"))
	if err != nil {
		return throughput{}, err
	}
	n, _ := doc.AsInt(v)
	t := throughput{manual: n}
	return t, t.check()
}

// sameOffer refuses a body that names another offer or another owner.
func sameOffer(old *catalog.Resource, d doc.Doc) error {
	id := offerRID(old.Number).String()
	for name, want := range map[string]string{"id": id, "_rid": id, "offerResourceId": targetRID(old.Target).String()} {
		if present(d, name) && textOf(d, name) != want {
			return misshapen(name, "that of the offer in the request's path")
		}
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

// appendOffer renders an offer as SDKs find it: by offerResourceId.
func (e *exchange) appendOffer(r *catalog.Resource) {
	id := offerRID(r.Number)
	b := append(e.reply, `{"resource":"`...)
	b = appendLink(b, targetLinks(r.Target)...)
	b = append(b, `","offerType":"Invalid"`...)
	b = appendRID(b, "offerResourceId", targetRID(r.Target))
	b = append(b, `,"offerVersion":"V2","content":`...)
	b = doc.AppendJSON(b, r.Body)
	b = appendRID(b, "id", id)
	b = appendRID(b, "_rid", id)
	b = appendSelf(b, link{"offers", id})
	b = appendETagMember(b, resourceVersion(r))
	e.reply = append(appendStamp(b, r.Stamp), '}')
}
