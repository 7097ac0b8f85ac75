package function

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// The family "Vector functions" of the reference.
var vectorFunctions = []Function{
	{Name: "VECTORDISTANCE", Family: "Vector", Min: 2, Max: 4, Run: vectorDistance,
		Note: "Always exact, in doubles whatever the dataType; cosine unless the options name another " +
			"distanceFunction."},
	{Name: "_VECTORSCORE", Family: "Vector", Min: 2, Max: 4, Run: vectorDistance,
		Note: "The name of VECTORDISTANCE in plans of hybrid searches."},
}

// A metric is a distance function of the page VECTORDISTANCE.
type metric uint8

const (
	metricCosine     metric = iota // -1 to +1, higher is nearer
	metricDotProduct               // higher is nearer
	metricEuclidean                // 0 or more, lower is nearer
)

// A vectorMemo caches parsed arguments.
type vectorMemo struct {
	scratch
	a, b    vector
	options []byte
	metric  metric
}

// vectorDistance is undefined for arguments that are not arrays of numbers, and for vectors of different lengths; the
// reference documents no error.
func vectorDistance(c *Call, args []doc.Value) doc.Value {
	r, ok := c.Memo.(*vectorMemo)
	if !ok {
		r = &vectorMemo{}
		c.Memo = r
	}
	if len(args) > 2 {
		if _, ok := doc.AsBool(args[2]); !ok {
			return undefined
		}
	}
	if len(args) > 3 {
		if ok := r.readOptions(c, args[3]); !ok {
			return undefined
		}
	}
	a, b := r.a.read(args[0]), r.b.read(args[1])
	if len(a) == 0 || len(a) != len(b) {
		return undefined
	}
	d := r.metric.of(a, b)
	if math.IsNaN(d) || math.IsInf(d, 0) {
		return undefined
	}
	return r.float(d)
}

// readOptions parses {distanceFunction, dataType, …}. The other options are about indexes, which an exact search does
// not use.
func (r *vectorMemo) readOptions(c *Call, v doc.Value) bool {
	d, ok := doc.AsDoc(v)
	if !ok {
		return false
	}
	if bytes.Equal(r.options, d) {
		return true
	}
	chosen := metricCosine
	for name, v := range doc.Members(d) {
		text, _ := doc.AsString(v)
		switch {
		case strings.EqualFold(name, "distanceFunction"):
			if chosen, ok = metricNamed(text); !ok {
				c.Fail(fault.New(fault.Invalid,
					"VECTORDISTANCE: %q is not a distanceFunction. Use cosine, dotproduct or euclidean.", text))
				return false
			}
		case strings.EqualFold(name, "dataType") && !isVectorType(text):
			c.Fail(fault.New(fault.Invalid,
				"VECTORDISTANCE: %q is not a dataType. Use float32, float16, int8 or uint8.", text))
			return false
		}
	}
	r.options, r.metric = append(r.options[:0], d...), chosen
	return true
}

func metricNamed(name string) (metric, bool) {
	for m, known := range []string{"cosine", "dotproduct", "euclidean"} {
		if strings.EqualFold(name, known) {
			return metric(m), true
		}
	}
	return 0, false
}

func isVectorType(name string) bool {
	for _, known := range []string{"float32", "float16", "int8", "uint8"} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// of computes the distance of two vectors of the same length.
func (m metric) of(a, b []float64) float64 {
	switch m {
	case metricDotProduct:
		return dotProduct(a, b)
	case metricEuclidean:
		return euclidean(a, b)
	}
	return cosineOf(dotProduct(a, b), dotProduct(a, a), dotProduct(b, b))
}

// cosineOf takes a single root if possible, so that equal vectors give exactly 1. The product of large or small
// squares may be out of range.
func cosineOf(ab, aa, bb float64) float64 {
	lengths := math.Sqrt(aa * bb)
	if lengths == 0 || math.IsInf(lengths, 0) {
		lengths = math.Sqrt(aa) * math.Sqrt(bb)
	}
	return ab / lengths
}

// dotProduct adds four sums in parallel, because with one sum the processor would wait for each addition.
func dotProduct(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	for len(a) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return s0 + s1 + (s2 + s3)
}

func euclidean(a, b []float64) float64 {
	var sum float64
	b = b[:len(a)]
	for i, x := range a {
		d := x - b[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

// A vector is one parsed argument. An argument that has never changed is compared as bytes, which is much faster than
// parsing it again.
type vector struct {
	raw    []byte
	varies bool
	floats []float64
}

// read returns the numbers of the array v, or none if it is not an array of only numbers.
func (x *vector) read(v doc.Value) []float64 {
	if !doc.IsArray(v) {
		return nil
	}
	if !x.varies && x.raw != nil {
		if bytes.Equal(x.raw, v.Data) {
			return x.floats
		}
		x.varies = true
	}
	if !x.varies {
		x.raw = append(x.raw[:0], v.Data...)
	}
	x.floats = appendFloats(x.floats[:0], v)
	return x.floats
}

// appendFloats appends the numbers of the array v, or returns nil if it has anything else. It assumes that member
// names are the indexes that BSON requires, so that it finds a value without searching for the end of its name: that
// is several times faster than doc.Elements.
func appendFloats(dst []float64, v doc.Value) []float64 {
	b := v.Data
	at, width, wider := 4, 1, 10
	for n := 0; ; n++ {
		if n == wider {
			width, wider = width+1, wider*10
		}
		value := at + 1 + width + 1
		if value+8 >= len(b) || b[value-1] != 0 {
			return appendSlowly(dst, v, at, n)
		}
		bits := binary.LittleEndian.Uint64(b[value:])
		switch bsoncore.Type(b[at]) {
		case bsoncore.TypeDouble:
			dst = append(dst, math.Float64frombits(bits))
		case bsoncore.TypeInt64:
			dst = append(dst, float64(int64(bits)))
		default:
			return appendSlowly(dst, v, at, n)
		}
		at = value + 8
	}
}

// appendSlowly continues at the given byte, after the first known elements, for any content.
func appendSlowly(dst []float64, v doc.Value, at, known int) []float64 {
	if at == len(v.Data)-1 {
		return dst
	}
	n := 0
	for e := range doc.Elements(v) {
		if n++; n <= known {
			continue
		}
		f, ok := doc.AsFloat(e)
		if !ok {
			return nil
		}
		dst = append(dst, f)
	}
	return dst
}
