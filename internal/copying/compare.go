package copying

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A digest stands for a document in a comparison, which keeps one of them for each document of the source.
type digest struct {
	body [16]byte
	end  int64 // of the life, 0 for none that is known
}

type digestKey [16]byte

func sum(parts ...[]byte) (short [16]byte) {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:", len(part))
		h.Write(part)
	}
	copy(short[:], h.Sum(nil))
	return short
}

// A comparison holds the documents of the source until those of the target are seen.
type comparison struct {
	part   *Part
	source map[digestKey]digest
}

func newComparison(p *Part) *comparison {
	return &comparison{part: p, source: map[digestKey]digest{}}
}

func (c *comparison) target(key digestKey, name string, d digest, now int64) {
	other, ok := c.source[key]
	delete(c.source, key)
	switch c.part.Compared++; {
	case !ok && (d.end == 0 || d.end > now):
		c.part.differs("%s: only the target has it", name)
	case ok && other.body != d.body:
		c.part.differs("%s: the contents differ", name)
	case ok && other.end != d.end:
		c.part.differs("%s: its life ends at %d in the source, and at %d in the target", name, other.end, d.end)
	}
}

// rest counts what only the source has, except what has ended while the target was read.
func (c *comparison) rest(now int64) (missing map[digestKey]bool) {
	missing = map[digestKey]bool{}
	for key, d := range c.source {
		if d.end == 0 || d.end > now {
			missing[key] = true
		}
	}
	return missing
}

func (p *nosqlPair) compare(ctx context.Context, j *job) error {
	c := p.ready[j]
	if c == nil { // an interrupted run had copied it
		if err := p.prepare(ctx, j); err != nil {
			return err
		}
		c = p.ready[j]
	}
	run := newComparison(j.part)
	keep := p.o.Lives == KeepLives && c.fromLife.on()
	err := p.each(ctx, c.from, c, c.fromLife, keep, func(key digestKey, _ string, d digest) { run.source[key] = d })
	if err != nil {
		return err
	}
	now, err := clockOf(ctx, c.to, p.toInstance)
	if err != nil {
		return err
	}
	err = p.each(ctx, c.to, c, c.toLife, keep, func(key digestKey, name string, d digest) {
		run.target(key, name, d, now)
	})
	if err != nil {
		return err
	}
	if now, err = clockOf(ctx, c.to, p.toInstance); err != nil {
		return err
	}
	missing := run.rest(now)
	if len(missing) == 0 {
		return nil
	}
	err = p.each(ctx, c.from, c, c.fromLife, keep, func(key digestKey, name string, _ digest) {
		if missing[key] {
			delete(missing, key)
			j.part.differs("%s: only the source has it", name)
		}
	})
	return err
}

// comparedPage is how many items a comparison reads at once.
const comparedPage = 500

// each calls f for every item of a container. An item that changes meanwhile comes again. ends says that lives are
// compared by their ends, and not by what the items say about them.
func (p *nosqlPair) each(
	ctx context.Context, of *azcosmos.ContainerClient, c *containers, life lifetime, ends bool,
	f func(digestKey, string, digest),
) error {
	in, err := openFeed(ctx, of, comparedPage, nil)
	if err != nil {
		return err
	}
	for {
		i, ok, err := in.next(ctx)
		if err != nil || !ok {
			return err
		}
		key, err := i.partitionKey(c.toPaths)
		if err != nil {
			return err
		}
		var d digest
		if ends {
			if end, limited := life.end(i); limited {
				d.end = end
			}
			i = i.with("ttl", nil)
		}
		d.body = sum([]byte(canonical(decode(i.bytes()))))
		f(sum([]byte(key), []byte(i.id)), key+" "+i.id, d)
	}
}

func (p *mongoPair) compare(ctx context.Context, j *job) error {
	from := p.from.Database(j.from.db).Collection(j.from.container)
	to := p.to.Database(j.to.db).Collection(j.to.container)
	run := newComparison(j.part)
	err := eachDocument(ctx, from, func(key digestKey, _ bson.RawValue, d digest) { run.source[key] = d })
	if err != nil {
		return err
	}
	err = eachDocument(ctx, to, func(key digestKey, id bson.RawValue, d digest) {
		run.target(key, id.String(), d, 0)
	})
	if err != nil || len(run.source) == 0 {
		return err
	}
	// What has ended since the source was read is no difference.
	missing := run.rest(0)
	return eachDocument(ctx, from, func(key digestKey, id bson.RawValue, _ digest) {
		if missing[key] {
			j.part.differs("%s: only the source has it", id)
		}
	})
}

// eachDocument calls f for every document of a collection.
func eachDocument(ctx context.Context, c *mongo.Collection, f func(digestKey, bson.RawValue, digest)) error {
	cursor, err := c.Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		id := cursor.Current.Lookup("_id")
		f(sum([]byte{byte(id.Type)}, id.Value), id, digest{body: sum(cursor.Current)})
	}
	return cursor.Err()
}
