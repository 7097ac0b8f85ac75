package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
)

// An order is a document of a suite: 1 KiB, with 12 paths that are indexed, and a text and a note that are not.
type order struct {
	ID        string   `json:"id" bson:"_id"`
	Partition string   `json:"pk" bson:"pk"`
	Kind      string   `json:"kind" bson:"kind"`
	Group     int      `json:"group" bson:"group"`
	Score     float64  `json:"score" bson:"score"`
	Amount    float64  `json:"amount" bson:"amount"`
	Open      bool     `json:"open" bson:"open"`
	Address   address  `json:"address" bson:"address"`
	Tags      []string `json:"tags" bson:"tags"`
	Note      string   `json:"note" bson:"note"`
	Text      string   `json:"text" bson:"text"`
}

type address struct {
	City   string `json:"city" bson:"city"`
	Street string `json:"street" bson:"street"`
	ZIP    string `json:"zip" bson:"zip"`
}

const (
	// together is how many documents have the same partition key, and how many the same group.
	together = 100
	// orderKinds is how many kinds of orders there are.
	orderKinds = 10
	// fillerBytes makes an order as long as 1 KiB.
	fillerBytes = 720
)

// makeOrder is document i of a suite that has count documents before it is measured. Neighbours have distant scores,
// and no two of the first count have the same score.
func makeOrder(i, count int) order {
	sets := count / together
	return order{
		ID: orderID(i), Partition: orderPartition(i, count), Kind: fmt.Sprint("kind-", i%orderKinds),
		Group: (i + i/sets) % sets,
		Score: float64(i*7919%count) + 0.5, Amount: makeAmount(i), Open: i%3 == 0,
		Address: address{fmt.Sprint("city ", i%50), fmt.Sprint(i%200, " Main Street"), fmt.Sprintf("%05d", i%99_999)},
		Tags:    []string{fmt.Sprint("t", i%7), fmt.Sprint("u", i%11)}, Note: fmt.Sprint("note ", i%1000),
		Text: filler(i),
	}
}

// fillers is random text, of which documents have parts: making some for each document takes a good part of the time
// of a client that writes.
var fillers = sync.OnceValue(func() string {
	text := make([]byte, 0, 256<<10)
	for random := rand.New(rand.NewPCG(1, 2)); len(text) < cap(text)-16; text = append(text, ' ') {
		text = strconv.AppendUint(text, random.Uint64N(1<<40), 36)
	}
	return string(text)
})

// filler is the text of document i. Parts of neighbours do not overlap, so that they compress no better than others.
func filler(i int) string {
	all := fillers()
	start := i * (fillerBytes + 1) % (len(all) - fillerBytes)
	return all[start : start+fillerBytes]
}

func makeAmount(i int) float64 { return float64(i%1000) + 0.25 }

func orderID(i int) string { return fmt.Sprint("item-", i) }

func orderPartition(i, count int) string { return fmt.Sprint("customer-", i%(count/together)) }
