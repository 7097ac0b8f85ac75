package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Key is the account key of the load's processes: the emulator's.
const Key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// nosql is the API for NoSQL through azcosmos.
type nosql struct {
	name      string
	container *azcosmos.ContainerClient
}

// everything is the whole container's feed range.
var everything = azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}

// NoSQL connects to an endpoint, http://host:port or https://host:port, and
// makes the container, of so many ranges, if it is not there. Each number of
// ranges is a container of its own.
func NoSQL(ctx context.Context, name, endpoint string, ranges int) (API, error) {
	client, err := Account(ctx, endpoint, ranges)
	if err != nil {
		return nil, err
	}
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "load"}, nil)
	if err != nil && !Answered(err, http.StatusConflict) {
		return nil, err
	}
	db, err := client.NewDatabase("load")
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("documents-%d", ranges)
	never := int32(-1) // items have a life of their own, or none
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: id, DefaultTimeToLive: &never,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/writer"}},
	}, nil)
	if err != nil && !Answered(err, http.StatusConflict) {
		return nil, err
	}
	container, err := db.NewContainer(id)
	return &nosql{name: name, container: container}, err
}

// Collection connects to an endpoint for the changes of MongoDB's collection,
// a container that this API can only read.
func Collection(ctx context.Context, name, endpoint string) (API, error) {
	client, err := Account(ctx, endpoint, 1)
	if err != nil {
		return nil, err
	}
	container, err := client.NewContainer("mongo", "documents")
	return &nosql{name: name, container: container}, err
}

// Account connects to an endpoint. The containers that it makes have so many
// ranges.
func Account(ctx context.Context, endpoint string, ranges int) (*azcosmos.Client, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	if address, found := strings.CutPrefix(endpoint, "https://"); found {
		var err error
		if transport.TLSClientConfig, err = trusting(ctx, address); err != nil {
			return nil, err
		}
	}
	key, err := azcosmos.NewKeyCredential(Key)
	if err != nil {
		return nil, err
	}
	var options azcosmos.ClientOptions
	options.Transport = dividing{http.Client{Transport: transport}, ranges}
	options.Retry.MaxRetries = -1 // a failure shows
	return azcosmos.NewClientWithKey(endpoint, key, &options)
}

// A dividing client asks for a number of ranges in each container that it
// makes; azcosmos has no call for it.
type dividing struct {
	http.Client
	ranges int
}

func (d dividing) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("x-mayfly-partitions", strconv.Itoa(d.ranges))
	return d.Client.Do(req)
}

// trusting believes in the authority of the mayfly at address.
func trusting(ctx context.Context, address string) (*tls.Config, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/_mayfly/ca.pem", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	pem, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate at http://%s/_mayfly/ca.pem: %s", address, resp.Status)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// Answered says whether an error is an answer with this status.
func Answered(err error, status int) bool {
	r := (*azcore.ResponseError)(nil)
	return errors.As(err, &r) && r.StatusCode == status
}

// An item is a document as the API for NoSQL has it.
type item struct {
	ID      string `json:"id"`
	Writer  string `json:"writer"`
	N       int    `json:"n"`
	Seconds int    `json:"ttl,omitempty"`
	Mortal  bool   `json:"mortal,omitempty"` // for an index
	Life    int    `json:"life,omitempty"`   // seconds, in MongoDB's collection
	End     *date  `json:"end,omitempty"`    // in MongoDB's collection
	Stamp   int64  `json:"_ts,omitempty"`
	ETag    string `json:"_etag,omitempty"`
	Now     int64  `json:"now,omitempty"` // milliseconds, of the query
	Number  int    `json:"number,omitempty"`
}

// A date is MongoDB's, as the API for NoSQL has it.
type date struct {
	Time time.Time `json:"$date"`
}

// counts is the partition of the writers' numbers, which no feed tells of.
const counts = "counts"

func (n *nosql) Name() string { return n.name }

func (n *nosql) Insert(ctx context.Context, d Document) error {
	body, err := json.Marshal(item{
		ID: d.ID(), Writer: d.Writer, N: d.N, Seconds: int(d.Life / time.Second), Mortal: d.Life > 0,
	})
	if err != nil {
		return err
	}
	_, err = n.container.CreateItem(ctx, azcosmos.NewPartitionKeyString(d.Writer), body, nil)
	if Answered(err, http.StatusConflict) {
		return ErrThere
	}
	return err
}

func (n *nosql) Count(ctx context.Context, writer string) (int, error) {
	partition := azcosmos.NewPartitionKeyString(counts)
	var add azcosmos.PatchOperations
	add.AppendIncrement("/number", 1)
	answer, err := n.container.PatchItem(ctx, partition, writer, add,
		&azcosmos.ItemOptions{EnableContentResponseOnWrite: true})
	if Answered(err, http.StatusNotFound) {
		var first []byte
		if first, err = json.Marshal(item{ID: writer, Writer: counts, Number: 1}); err != nil {
			return 0, err
		}
		_, err = n.container.CreateItem(ctx, partition, first, nil)
		return 1, err
	}
	if err != nil {
		return 0, err
	}
	var i item
	err = json.Unmarshal(answer.Value, &i)
	return i.Number, err
}

func (n *nosql) Stay(ctx context.Context, writer string) (ids []string, err error) {
	pager := n.container.NewQueryItemsPager("SELECT c.id FROM c", azcosmos.NewPartitionKeyString(writer), nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range page.Items {
			var i item
			if err := json.Unmarshal(text, &i); err != nil {
				return nil, err
			}
			ids = append(ids, i.ID)
		}
	}
	return ids, nil
}

// Mortal asks for the time within the query: each page is of one moment.
func (n *nosql) Mortal(ctx context.Context) (now time.Time, shown []Shown, err error) {
	const query = "SELECT c.id, c._ts, c.ttl, GetCurrentTimestamp() AS now FROM c WHERE c.mortal"
	size := azcosmos.QueryOptions{PageSizeHint: -1}
	page, err := n.container.NewQueryItemsPager(query, azcosmos.NewPartitionKey(), &size).NextPage(ctx)
	if err != nil {
		return now, nil, err
	}
	for _, text := range page.Items {
		var i item
		if err := json.Unmarshal(text, &i); err != nil {
			return now, nil, err
		}
		now = time.UnixMilli(i.Now)
		shown = append(shown, Shown{ID: i.ID, End: time.Unix(i.Stamp+int64(i.Seconds), 0)})
	}
	return now, shown, nil
}

func (n *nosql) Changes(ctx context.Context, after string) (inserted []Document, next string, err error) {
	o := azcosmos.ChangeFeedOptions{FeedRange: &everything, MaxItemCount: 100}
	if after != "" {
		o = azcosmos.ChangeFeedOptions{Continuation: &after, MaxItemCount: 100}
	}
	page, err := n.container.ReadChangeFeed(ctx, &o)
	if err != nil {
		return nil, "", err
	}
	for _, text := range page.Items {
		var i item
		if err := json.Unmarshal(text, &i); err != nil {
			return nil, "", err
		}
		if i.Writer == counts {
			continue
		}
		d := Document{
			Writer: i.Writer, N: i.N, Life: time.Duration(i.Seconds+i.Life) * time.Second,
			Version: i.ETag, Written: time.Unix(i.Stamp, 0),
		}
		switch {
		case i.End != nil:
			d.End = i.End.Time
		case i.Seconds > 0:
			d.End = d.Written.Add(d.Life)
		}
		inserted = append(inserted, d)
	}
	return inserted, page.ContinuationToken, nil
}
