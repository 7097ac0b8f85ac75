package rest

import (
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
)

// send writes the answer: the common headers, then e.reply. Each header costs a hundredth of a point read, so the
// headers that the service sends for its direct mode and its own engineers are left out. All values that differ
// between answers are slices of one string.
func (e *exchange) send(status int) {
	e.put(outContentType, valueJSON)
	e.put(outGatewayVersion, valueGateway)
	e.put(outServiceVersion, valueService)
	e.put(outSchemaVersion, valueSchema)
	bare := status == http.StatusNoContent || status == http.StatusNotModified
	if bare {
		e.reply = e.reply[:0]
		e.unset(outContentType)
	}
	e.sendFacts(bare)
	e.setBodyDeadline()
	e.writer.WriteHeader(status)
	if len(e.reply) > 0 {
		e.writeReply()
	}
}

// maxFacts is the largest number of headers that sendFacts adds.
const maxFacts = 10

// facts collects header values in one buffer.
type facts struct {
	text  []byte
	ends  [maxFacts]int
	names [maxFacts]answerHeader
	count int
}

// add ends the value that was last appended to f.text.
func (f *facts) add(name answerHeader) {
	f.ends[f.count], f.names[f.count] = len(f.text), name
	f.count++
}

// into sets the headers of the answer.
func (f *facts) into(e *exchange) {
	text := string(f.text)
	values := make([]string, f.count)
	start := 0
	for i, end := range f.ends[:f.count] {
		values[i], start = text[start:end], end
		e.put(f.names[i], values[i:i+1:i+1])
	}
}

// sendFacts adds the headers whose values differ between answers.
func (e *exchange) sendFacts(bare bool) {
	f := facts{text: e.text[:0]}
	f.text = append(f.text, e.identify()...)
	f.add(outActivityID)
	if !bare {
		f.text = strconv.AppendInt(f.text, int64(len(e.reply)), 10)
		f.add(outContentLength)
	}
	f.text = strconv.AppendFloat(f.text, cost(e.ru), 'f', -1, 64)
	f.add(outCharge)
	f.text = strconv.AppendFloat(f.text, float64(e.watch.Elapsed().Microseconds())/1000, 'f', 3, 64)
	f.add(outDuration)
	if e.versioned {
		f.text = appendETag(f.text, e.version)
		f.add(outETag)
	}
	e.sendSession(&f)
	f.into(e)
	e.text = f.text
}

// sendSession adds the headers by which SDKs key their caches of sessions and containers.
func (e *exchange) sendSession(f *facts) {
	lsn := e.newest()
	served := e.servedRange()
	f.text = strconv.AppendUint(f.text, uint64(served), 10)
	f.text = append(f.text, ":-1#"...)
	f.text = strconv.AppendUint(f.text, lsn, 10)
	f.add(outSessionToken)
	f.text = strconv.AppendUint(f.text, lsn, 10)
	f.add(outLSN)
	e.sendOwner(f)
	if e.container == nil || e.path.count < 3 || e.path.segment[4] == "pkranges" {
		return
	}
	if served == 0 {
		e.put(outRangeID, valueRangeID)
		return
	}
	f.text = strconv.AppendUint(f.text, uint64(served), 10)
	f.add(outRangeID)
}

// newest is the sequence number that the session token shows. It is at least 1, as in the service.
func (e *exchange) newest() uint64 {
	sequence := e.version.Sequence
	if !(e.versioned && e.aboutItem()) && e.container != nil && !e.container.State().Deleted {
		// For a single item, the sequence number of its own version is enough.
		newest, err := e.api.store.Sequence(e.Context(), e.container, e.servedRange())
		if err != nil && e.Context().Err() == nil {
			e.api.log.Error("cannot read the newest sequence number", "error", err)
		}
		sequence = newest
	}
	return max(sequence, 1)
}

// aboutItem reports whether the path is below docs, so that a version is one of an item.
func (e *exchange) aboutItem() bool { return e.path.segment[4] == "docs" }

// activityID identifies the request in logs and errors. It is the client's, if it sent a GUID, else a new one.
func (e *exchange) activityID() string { return string(e.identify()) }

func (e *exchange) identify() []byte {
	if e.activity[0] == 0 {
		if id := e.given(hActivityID); isGUID(id) {
			copy(e.activity[:], id)
		} else {
			appendGUID(e.activity[:0])
		}
	}
	return e.activity[:]
}

func isGUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// appendGUID appends a random GUID (version 4). It is an identifier and not a secret, so the generator need not be
// cryptographic.
func appendGUID(b []byte) []byte {
	start := len(b)
	hi, lo := rand.Uint64(), rand.Uint64()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	for _, part := range [...]struct {
		n      uint64
		digits int
	}{{hi >> 32, 8}, {hi >> 16, 4}, {hi, 4}, {lo >> 48, 4}, {lo, 12}} {
		if len(b) > start {
			b = append(b, '-')
		}
		b = appendHex(b, part.n, part.digits)
	}
	return b
}

// cost rounds request units up to two digits. Every answer costs something, because SDKs take 0 for a missing header.
func cost(ru float64) float64 {
	if ru <= 0 {
		return 1
	}
	return math.Ceil(ru*100-1e-9) / 100
}

// The charge of an operation is derived from the size of what it uses, so that it is reproducible and behaves like
// the service's: 1 for a point read of 1 KB and 10 for 100 KB, 5 to 7 for creating 1 KB, twice that for replacing it.

// readCharge is the cost of reading one document of that many bytes.
func readCharge(bytes int) float64 { return 1 + 0.09*max(0, kilobytes(bytes)-1) }

// createCharge is the cost of creating a document, deleteCharge that of deleting one.
func createCharge(d doc.Doc) float64 { return 4.76 + 0.38*kilobytes(len(d)) + 0.12*terms(d) }
func deleteCharge(d doc.Doc) float64 { return createCharge(d) }

// replaceCharge is the cost of replacing a document.
func replaceCharge(d doc.Doc) float64 { return 2 * createCharge(d) }

// feedCharge is the cost of a page with that many documents and bytes.
func feedCharge(documents, bytes int) float64 {
	return 2 + 0.05*float64(documents) + 0.05*kilobytes(bytes)
}

func kilobytes(bytes int) float64 { return float64(bytes) / 1024 }

// maxTerms limits what index entries add to a charge.
const maxTerms = 200

// terms estimates the number of index entries by the number of the document's members.
func terms(d doc.Doc) (n float64) {
	for range doc.Members(d) {
		if n++; n == maxTerms {
			break
		}
	}
	return n
}
