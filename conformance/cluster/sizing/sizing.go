// Package sizing computes how large a cluster must be for a goal: the tables of
// docs/cluster-sizing.md, which says where each input comes from.
package sizing

import (
	"fmt"
	"math"
	"strings"
)

// A Goal is what a cluster shall do.
type Goal struct {
	Writes   float64 // inserts each second
	Bytes    float64 // of all documents
	Document float64 // bytes of one
}

// Rates are what parts can do, measured or published.
type Rates struct {
	Name    string
	Counter float64 // inserts each second in one range
	Group   float64 // inserts that share one transaction
}

// Inputs that do not depend on the rates.
const (
	use        = 0.7       // of what a part can do at most
	keys       = 7         // for each document: record, lookup, posting, feed, index entries
	footprint  = 1.9       // bytes of all keys and values for each byte of a document
	replicas   = 3         // of each Region
	space      = 1.1       // bytes on disk for each byte that lives; RocksDB, by levels
	rewriting  = 11        // bytes written for each byte that comes in: Raft log once, RocksDB ten times
	disk       = 4e12      // bytes of a store
	full       = 0.75      // of the disk at most
	storeKeys  = 16 * 2141 // keys written each second through the cluster, for each store of 16 vCPU
	process    = 16 * 2500 // inserts each second of one mayfly process on 16 vCPU
	timestamps = 3         // for each transaction: start, lock, commit
	proposals  = 2         // Raft writes for each transaction in the counter's Region: lock, commit

	atCreation = 256       // ranges of a container; catalog.MaxPartitions
	atMost     = 2175      // ranges after splits: made with 256, it can have had 4,095 (keys.MaxRanges)
	region     = 256 << 20 // bytes; TiKV from 8.4 on
	oldRegion  = 96 << 20  // bytes; TiKV before
	oracle     = 3e6       // timestamps each second that PD was seen to give
)

// A Plan is how large everything is.
type Plan struct {
	Ranges, Containers, Processes       float64
	StoresForWrites, StoresForBytes     float64
	Transactions, Timestamps            float64 // each second
	Regions, PeersOfStore               float64
	OldRegions, OldPeersOfStore         float64
	WrittenByStore                      float64 // bytes each second
	OneRange, MostAtCreation, MostInAll float64 // inserts each second
	ProposalsOfRange, ProposalsUnsplit  float64 // each second
	OracleUse                           float64 // of what it was seen to give
}

// Stores is how many the plan needs.
func (p Plan) Stores() float64 { return max(p.StoresForWrites, p.StoresForBytes) }

// For computes a plan.
func For(g Goal, r Rates) Plan {
	var p Plan
	stored := g.Bytes * footprint
	p.OneRange = r.Counter * use
	p.Ranges = math.Ceil(g.Writes / p.OneRange)
	p.Containers = math.Ceil(p.Ranges / atCreation)
	p.Processes = math.Ceil(g.Writes / (process * use))
	p.StoresForWrites = math.Ceil(g.Writes * keys / (storeKeys * use))
	p.StoresForBytes = math.Ceil(stored * replicas * space / (disk * full))
	p.Transactions = g.Writes / r.Group
	p.Timestamps = p.Transactions * timestamps
	p.OracleUse = p.Timestamps / oracle
	p.Regions, p.OldRegions = math.Ceil(stored/region), math.Ceil(stored/oldRegion)
	p.PeersOfStore = p.Regions * replicas / p.Stores()
	p.OldPeersOfStore = p.OldRegions * replicas / p.Stores()
	p.WrittenByStore = g.Writes * g.Document * footprint * replicas * rewriting / p.Stores()
	p.MostAtCreation, p.MostInAll = atCreation*p.OneRange, atMost*p.OneRange
	p.ProposalsOfRange = p.OneRange / r.Group * proposals
	p.ProposalsUnsplit = p.Transactions * proposals
	return p
}

// Table writes plans side by side as Markdown.
func Table(g Goal, rates ...Rates) string {
	var plans []Plan
	var out strings.Builder
	out.WriteString("| what | formula |")
	for _, r := range rates {
		plans = append(plans, For(g, r))
		fmt.Fprintf(&out, " %s |", r.Name)
	}
	out.WriteString("\n|---|---|" + strings.Repeat("---|", len(rates)) + "\n")
	row := func(what, formula string, value func(int) string) {
		fmt.Fprintf(&out, "| %s | %s |", what, formula)
		for i := range plans {
			fmt.Fprintf(&out, " %s |", value(i))
		}
		out.WriteByte('\n')
	}
	count := func(f func(Plan) float64) func(int) string {
		return func(i int) string { return number(f(plans[i])) }
	}
	row("inserts of one range, C", "input", func(i int) string { return number(rates[i].Counter) + "/s" })
	row("inserts in one transaction, G", "input", func(i int) string { return number(rates[i].Group) })
	row("ranges", "W / (C × 0.7)", count(func(p Plan) float64 { return p.Ranges }))
	row("containers, if each has 256", "ranges / 256", count(func(p Plan) float64 { return p.Containers }))
	row("mayfly processes of 16 vCPU", "W / (40,000 × 0.7)", count(func(p Plan) float64 { return p.Processes }))
	row("stores of 16 vCPU, for the writes", "W × 7 / (34,256 × 0.7)",
		count(func(p Plan) float64 { return p.StoresForWrites }))
	row("stores of 4 TB, for the bytes", "D × 1.9 × 3 × 1.1 / (4 TB × 0.75)",
		count(func(p Plan) float64 { return p.StoresForBytes }))
	row("transactions each second", "W / G", count(func(p Plan) float64 { return p.Transactions }))
	row("timestamps each second", "3 × W / G", count(func(p Plan) float64 { return p.Timestamps }))
	row("of what PD was seen to give", "/ 3,000,000", func(i int) string {
		return fmt.Sprintf("%.1f%%", 100*plans[i].OracleUse)
	})
	row("Regions of 256 MiB", "D × 1.9 / 256 MiB", count(func(p Plan) float64 { return p.Regions }))
	row("their peers on a store", "Regions × 3 / stores", count(func(p Plan) float64 { return p.PeersOfStore }))
	row("the same with 96 MiB", "", count(func(p Plan) float64 { return p.OldPeersOfStore }))
	row("written by a store", "W × 1 KiB × 1.9 × 3 × 11 / stores", func(i int) string {
		return number(plans[i].WrittenByStore/1e6) + " MB/s"
	})
	row("**limit**: one collection or partition key", "C × 0.7", func(i int) string {
		return number(plans[i].OneRange) + "/s"
	})
	row("**limit**: a container as it is made", "256 × C × 0.7", func(i int) string {
		return number(plans[i].MostAtCreation) + "/s"
	})
	row("**limit**: a container after splits", "2,175 × C × 0.7", func(i int) string {
		return number(plans[i].MostInAll) + "/s"
	})
	row("Raft writes in one counter's Region", "2 × C × 0.7 / G", func(i int) string {
		return number(plans[i].ProposalsOfRange) + "/s"
	})
	row("the same, if no Region is split yet", "2 × W / G", func(i int) string {
		return number(plans[i].ProposalsUnsplit) + "/s"
	})
	return out.String()
}

// number writes a rounded number with commas.
func number(f float64) string {
	text := fmt.Sprintf("%.0f", f)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
