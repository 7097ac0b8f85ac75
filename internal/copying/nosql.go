package copying

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A nosqlPair is two endpoints of Cosmos DB for NoSQL.
type nosqlPair struct {
	o        *Options
	from, to *azcosmos.Client
	ready    map[*job]*containers

	fromInstance, toInstance *instance
}

// containers are those of a job, when it is prepared.
type containers struct {
	from, to         *azcosmos.ContainerClient // to is nil in a dry run, if it is not there
	fromLife, toLife lifetime
	toPaths          []string // of the partition key
	total            int64    // documents of the source, 0 if unknown
}

func openNoSQL(o *Options) (pair, error) {
	from, fromInstance, err := o.From.nosql(o.Clients)
	if err != nil {
		return nil, err
	}
	to, toInstance, err := o.To.nosql(o.Clients)
	if err != nil {
		return nil, err
	}
	return &nosqlPair{o: o, from: from, to: to, ready: map[*job]*containers{},
		fromInstance: fromInstance, toInstance: toInstance}, nil
}

func (p *nosqlPair) close() {
	p.from.Close()
	p.to.Close()
	p.fromInstance.CloseIdleConnections()
	p.toInstance.CloseIdleConnections()
}

// maxRetries is how often a request is sent again, for example when the service answers 429. The client waits for as
// long as the answer says.
const maxRetries = 9

func (e Endpoint) nosql(clients int) (*azcosmos.Client, *instance, error) {
	credential, err := azcosmos.NewKeyCredential(e.Key)
	if err != nil {
		return nil, nil, err
	}
	trust, err := e.tls()
	if err != nil {
		return nil, nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = clients
	if trust != nil {
		transport.TLSClientConfig = trust
	}
	o := &azcosmos.ClientOptions{}
	server := &instance{Transport: transport}
	o.Transport = &http.Client{Transport: server}
	o.Retry.MaxRetries = maxRetries
	o.PerCallPolicies = []policy.Policy{asWritten{}, again{}}
	client, err := azcosmos.NewClientWithKey(e.URL, credential, o)
	return client, server, err
}

// asWritten is the policy that sends what a context holds in place of the form that the client makes: a definition
// with all of its members, the JSON of a partition key, and a list instead of a query.
type asWritten struct{}

type (
	definitionKey   struct{}
	partitionKeyKey struct{}
	listKey         struct{}
	partitionsKey   struct{}
)

// asList makes lists of the queries for databases and containers, which have the same answers. The client knows only
// queries, and emulators only lists: cosmium takes such a query for the definition of a container.
// https://learn.microsoft.com/rest/api/cosmos-db/list-collections
func asList(ctx context.Context) context.Context { return context.WithValue(ctx, listKey{}, true) }

func (asWritten) Do(r *policy.Request) (*http.Response, error) {
	ctx := r.Raw().Context()
	if body, ok := ctx.Value(definitionKey{}).([]byte); ok {
		err := r.SetBody(streaming.NopCloser(bytes.NewReader(body)), "application/json")
		if err != nil {
			return nil, err
		}
	}
	if ctx.Value(listKey{}) != nil {
		if err := r.SetBody(nil, ""); err != nil {
			return nil, err
		}
		r.Raw().Method = http.MethodGet
		r.Raw().Header.Del("x-ms-documentdb-query")
	}
	if n, ok := ctx.Value(partitionsKey{}).(string); ok {
		r.Raw().Header.Set(partitionsHeader, n)
	}
	if key, ok := ctx.Value(partitionKeyKey{}).(string); ok {
		r.Raw().Header.Set("x-ms-documentdb-partitionkey", key)
	}
	return r.Next()
}

// Status is the HTTP status of an error of a NoSQL endpoint, 0 for others.
func Status(err error) int { return status(err) }

// Unreachable reports whether err says that no server answers.
func Unreachable(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial" || mongo.IsNetworkError(err) || mongo.IsTimeout(err)
}

// A refusal is an error of a NoSQL endpoint in one line.
type refusal struct {
	error
	text string
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.error }

// plainError is an error of the client without the request and the headers that the client adds to what the
// service says.
func plainError(err error) error {
	given, ok := errors.AsType[*azcore.ResponseError](err)
	_, done := errors.AsType[refusal](err)
	if !ok || done || given.RawResponse == nil {
		return err
	}
	var said struct {
		Message string `json:"message"`
	}
	body, readErr := runtime.Payload(given.RawResponse)
	if readErr != nil || json.Unmarshal(body, &said) != nil {
		said.Message = given.ErrorCode
	}
	said.Message, _, _ = strings.Cut(strings.TrimPrefix(said.Message, "Message: "), "\r\n")
	r := given.RawResponse
	text := fmt.Sprintf("%d %s", r.StatusCode, said.Message)
	if r.Request != nil {
		text += fmt.Sprintf(" (%s %s)", r.Request.Method, r.Request.URL.Redacted())
	}
	return refusal{err, text}
}

// status is the HTTP status of an error, 0 for others.
func status(err error) int {
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return answer.StatusCode
	}
	return 0
}

func (p *nosqlPair) list(ctx context.Context) (found []name, err error) {
	dbs := []string{p.o.From.DB}
	if dbs[0] == "" {
		if dbs, err = p.databases(ctx); err != nil {
			return nil, err
		}
	}
	for _, db := range dbs {
		if p.o.From.Container != "" {
			found = append(found, name{db, p.o.From.Container})
			continue
		}
		database, err := p.from.NewDatabase(db)
		if err != nil {
			return nil, err
		}
		for pages := database.NewQueryContainersPager("SELECT * FROM c", nil); pages.More(); {
			page, err := pages.NextPage(asList(ctx))
			if err != nil {
				return nil, err
			}
			for _, c := range page.Containers {
				found = append(found, name{db, c.ID})
			}
		}
	}
	return found, nil
}

func (p *nosqlPair) databases(ctx context.Context) (found []string, err error) {
	for pages := p.from.NewQueryDatabasesPager("SELECT * FROM c", nil); pages.More(); {
		page, err := pages.NextPage(asList(ctx))
		if err != nil {
			return nil, err
		}
		for _, db := range page.Databases {
			found = append(found, db.ID)
		}
	}
	return found, nil
}

// partitionsHeader has the number of a container's ranges, in answers and in the request that creates one. Only
// mayfly knows it.
const partitionsHeader = "x-mayfly-partitions"

// A described is a container as an endpoint describes it.
type described struct {
	definition item   // with all the members that the service sent
	total      int64  // documents, 0 if unknown
	partitions string // how many ranges it has, "" if the endpoint does not say
}

func read(ctx context.Context, c *azcosmos.ContainerClient) (d described, err error) {
	answer, err := c.Read(ctx, &azcosmos.ReadContainerOptions{PopulateQuotaInfo: true})
	if err != nil {
		return d, err
	}
	body, err := runtime.Payload(answer.RawResponse)
	if err != nil {
		return d, err
	}
	d.definition, err = parseItem(body)
	d.total = documentsCount(answer.RawResponse.Header.Get("x-ms-resource-usage"))
	d.partitions = answer.RawResponse.Header.Get(partitionsHeader)
	return d, err
}

func (p *nosqlPair) missing(ctx context.Context, j *job) (bool, error) {
	to, err := p.to.NewContainer(j.to.db, j.to.container)
	if err != nil {
		return false, err
	}
	_, err = read(ctx, to)
	if status(err) == http.StatusNotFound {
		return true, nil
	}
	return false, err
}

func (p *nosqlPair) prepare(ctx context.Context, j *job) (err error) {
	c := &containers{}
	if c.from, err = p.from.NewContainer(j.from.db, j.from.container); err != nil {
		return err
	}
	if c.to, err = p.to.NewContainer(j.to.db, j.to.container); err != nil {
		return err
	}
	source, err := read(ctx, c.from)
	if err != nil {
		return err
	}
	c.total = source.total
	target, err := read(ctx, c.to)
	switch {
	case status(err) == http.StatusNotFound:
		if err = j.begin(); err != nil {
			return err
		}
		j.part.Created = true
		if p.o.DryRun {
			target, c.to, err = source, nil, nil
			break
		}
		// The answer is what counts: a service may ignore members that it does not know.
		source.definition = definitionOf(source.definition)
		target.definition, err = p.create(ctx, j, c, source)
	case err == nil && !p.o.IntoExisting && !j.part.Created:
		if what := differences(source.definition, target.definition); len(what) > 0 {
			err = &DifferentError{j.to.String(), what}
		}
	}
	if err != nil {
		return err
	}
	p.ready[j] = c
	return c.check(source.definition, target.definition, p.o)
}

// check reads what the copying of items needs.
func (c *containers) check(source, target item, o *Options) error {
	var from, to struct {
		PartitionKey struct {
			Paths []string `json:"paths"`
		} `json:"partitionKey"`
	}
	err := errors.Join(json.Unmarshal(source.bytes(), &c.fromLife), json.Unmarshal(target.bytes(), &c.toLife),
		json.Unmarshal(source.bytes(), &from), json.Unmarshal(target.bytes(), &to))
	c.toPaths = to.PartitionKey.Paths
	switch {
	case err != nil:
		return err
	case !slices.Equal(from.PartitionKey.Paths, c.toPaths):
		// Items of several partitions could have one id in one partition there, and the last one would win.
		return errors.New("the target has another partition key: make a container with the same one")
	case o.Lives == RestartLives:
		return nil
	case c.fromLife.on() && !c.toLife.on():
		return errors.New("items of the source have lives that end, and TTL is off at the target: " +
			"switch it on there, or copy with --lives restart")
	case c.fromLife.Path != c.toLife.Path:
		return errors.New("lives count from another property at the target (ttlPropertyPath): " +
			"copy with --lives restart")
	case !c.fromLife.equal(c.toLife) && (o.ToAdmin != nil || c.fromLife.Path != ""):
		// Items go over as they are, so the rule of the target would decide when they end.
		return errors.New("the target has another defaultTtl: give it that of the source, or copy with --lives restart")
	}
	return nil
}

// create makes the container, and its database if it is not there. It returns the definition in the answer.
func (p *nosqlPair) create(ctx context.Context, j *job, c *containers, source described) (made item, err error) {
	_, err = p.to.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: j.to.db}, nil)
	if err != nil && status(err) != http.StatusConflict {
		return made, err
	}
	database, err := p.to.NewDatabase(j.to.db)
	if err != nil {
		return made, err
	}
	id, err := json.Marshal(j.to.container)
	if err != nil {
		return made, err
	}
	o := &azcosmos.CreateContainerOptions{}
	if p.o.Throughput {
		given, err := c.from.ReadThroughput(ctx, nil)
		if err != nil && status(err) != http.StatusNotFound { // the throughput of the database, or serverless
			return made, err
		}
		o.ThroughputProperties = given.ThroughputProperties
	}
	ctx = context.WithValue(ctx, definitionKey{}, source.definition.with("id", id).bytes())
	if source.partitions != "" && source.partitions != "1" { // one is what nobody asked for: the target may have more
		ctx = context.WithValue(ctx, partitionsKey{}, source.partitions)
	}
	answer, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: j.to.container}, o)
	if err != nil {
		return made, err
	}
	body, err := runtime.Payload(answer.RawResponse)
	if err != nil {
		return made, err
	}
	return parseItem(body)
}
