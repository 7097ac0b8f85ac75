package rest

import (
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Headers that switch an offer between manual throughput and autopilot.
const (
	hToAutopilot requestHeader = "X-Ms-Cosmos-Migrate-Offer-To-Autopilot"
	hToManual    requestHeader = "X-Ms-Cosmos-Migrate-Offer-To-Manual-Throughput"
)

var (
	errBothSettings = fault.New(fault.Invalid, "Offer throughput and autopilot settings cannot both be specified. "+
		"Send one of the headers x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings.")
	errBothModes = fault.New(fault.Invalid,
		"An offer cannot be migrated to autopilot and to manual throughput at once. "+
			"Send one of the headers x-ms-cosmos-migrate-offer-to-autopilot and "+
			"x-ms-cosmos-migrate-offer-to-manual-throughput.")
	errToAutopilot = fault.New(fault.Invalid, "x-ms-cosmos-migrate-offer-to-autopilot must be supplied and "+
		"offercontent must not contain autopilotSettings "+
		"for migration from manual throughput to autoscale. Send the offer as it was read with that header, then set "+
		"its maxThroughput in a second request.")
	errToManual = fault.New(fault.Invalid, "x-ms-cosmos-migrate-offer-to-manual-throughput must be supplied and "+
		"offercontent must contain autopilotSettings "+
		"for migration of autoscale collection to manual throughput. Send the offer as it was read with that header, "+
		"then set its offerThroughput in a second request.")
	errNoContent = fault.New(fault.Invalid, "The required field Content is missing in Offer version v2. Send the "+
		"offer as it was read, with another throughput.")
)

// requestedThroughput is the throughput that a request gives an offer: the other mode, or the content's throughput in
// the current mode. In a switch the service chooses the throughput itself and ignores the client's:
// https://learn.microsoft.com/azure/cosmos-db/autoscale-faq, "How does the migration between autoscale and standard
// (manual) provisioned throughput work?". Clients leave maxThroughput out then, or send 0 or -1.
func (e *exchange) requestedThroughput(have throughput, content doc.Doc) (throughput, error) {
	if content == nil {
		return have, errNoContent
	}
	most := maxThroughputOf(docOf(content, "offerAutopilotSettings"))
	switch toAutopilot, toManual := e.flag(hToAutopilot), e.flag(hToManual); {
	case toAutopilot && toManual:
		return have, errBothModes
	case toAutopilot && have.autopilot == nil && most > 0:
		return have, errToAutopilot
	case toAutopilot && have.autopilot == nil, toManual && have.autopilot != nil:
		return have.otherMode(), nil
	case toAutopilot && most <= 0, toManual && !present(content, "offerThroughput"):
		return have, nil // already in that mode, and no throughput is given
	case toManual:
		return manual(content)
	}
	wanted := present(content, "offerAutopilotSettings")
	switch {
	case wanted && have.autopilot == nil:
		return have, errToAutopilot
	case wanted:
		return autopilot(doc.Lookup(content, "offerAutopilotSettings"))
	case have.autopilot != nil:
		return have, errToManual
	}
	return manual(content)
}

// manual parses the manual throughput in the content of an offer.
func manual(content doc.Doc) (throughput, error) {
	v, err := whole(math.MinInt32, math.MaxInt32)("content.offerThroughput", doc.Lookup(content, "offerThroughput"))
	if err != nil {
		return throughput{}, err
	}
	n, _ := doc.AsInt(v)
	t := throughput{manual: n}
	return t, t.check()
}

// otherMode is the throughput in the other mode: the former maximum, or an autopilot maximum in whole steps that is at
// least the current throughput and a tenth of the largest one ever.
func (t throughput) otherMode() throughput {
	if t.autopilot != nil {
		return throughput{manual: t.most()}
	}
	most := max(minAutopilot, t.manual, t.ever/10)
	most = (most + autopilotStep - 1) / autopilotStep * autopilotStep
	return throughput{manual: most / 10, autopilot: doc.With(nil, "maxThroughput", doc.Int(most))}
}
