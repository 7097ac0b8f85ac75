package function

import (
	"bytes"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The family "Spatial functions" of the reference, on GeoJSON: Point, LineString, Polygon and MultiPolygon in WGS-84.
// A polygon is the area on the left of its outer ring, so a ring in clockwise order contains the rest of the world.
// Invalid shapes make the result undefined, except in the functions that check validity.
var spatialFunctions = []Function{
	{Name: "ST_AREA", Family: familySpatial, Min: 1, Max: 1, Run: spatialArea, Note: noteSpatial},
	{Name: "ST_DISTANCE", Family: familySpatial, Min: 2, Max: 2, Run: spatialDistance, Note: noteSpatial},
	{Name: "ST_INTERSECTS", Family: familySpatial, Min: 2, Max: 2, Run: spatialIntersects, Note: noteSpatial},
	{Name: "ST_ISVALID", Family: familySpatial, Min: 1, Max: 1, Run: spatialValid, Note: noteSpatial},
	{Name: "ST_ISVALIDDETAILED", Family: familySpatial, Min: 1, Max: 1, Run: spatialValidDetailed,
		Note: noteSpatial + " Reasons that the reference does not show are mayfly's own."},
	{Name: "ST_WITHIN", Family: familySpatial, Min: 2, Max: 2, Run: spatialWithin, Note: noteSpatial},
}

const (
	familySpatial = "Spatial"
	noteSpatial   = "Geography only: a geospatialConfig of type Geometry has no effect."
)

// A spatialMemo caches the shapes of the last row.
type spatialMemo struct {
	scratch
	a, b spatialArgument
}

func spatialMemoOf(c *Call) *spatialMemo {
	r, ok := c.Memo.(*spatialMemo)
	if !ok {
		r = &spatialMemo{}
		r.a.call, r.b.call = c, c
		c.Memo = r
	}
	return r
}

// A spatialArgument is one parsed argument. As long as it has never changed it is assumed to be constant, and
// compared as bytes.
type spatialArgument struct {
	geometry
	raw    []byte
	varies bool
}

// of is v as a shape, valid or not.
func (a *spatialArgument) of(v doc.Value) *geometry {
	d, ok := doc.AsDoc(v)
	if !ok {
		a.raw = nil
		a.read(v)
		return &a.geometry
	}
	if !a.varies && a.raw != nil {
		if bytes.Equal(a.raw, d) {
			return &a.geometry
		}
		a.varies = true
	}
	if !a.varies {
		a.raw = append(a.raw[:0], d...)
	}
	a.read(v)
	return &a.geometry
}

// shapes are both arguments as shapes. ok is false if one is not valid.
func shapes(c *Call, args []doc.Value) (r *spatialMemo, g, h *geometry, ok bool) {
	r = spatialMemoOf(c)
	if g = r.a.of(args[0]); g.reason != "" {
		return r, nil, nil, false
	}
	h = r.b.of(args[1])
	return r, g, h, h.reason == ""
}

// spatialArea is 0 for points and lines.
func spatialArea(c *Call, args []doc.Value) doc.Value {
	r := spatialMemoOf(c)
	g := r.a.of(args[0])
	if g.reason != "" {
		return undefined
	}
	return r.float(g.area())
}

func spatialDistance(c *Call, args []doc.Value) doc.Value {
	r, g, h, ok := shapes(c, args)
	if !ok {
		return undefined
	}
	metres, ok := g.distance(h)
	if !ok {
		return undefined
	}
	return r.float(metres)
}

func spatialIntersects(c *Call, args []doc.Value) doc.Value {
	_, g, h, ok := shapes(c, args)
	if !ok {
		return undefined
	}
	return truth(g.intersects(h))
}

func spatialWithin(c *Call, args []doc.Value) doc.Value {
	_, g, h, ok := shapes(c, args)
	if !ok {
		return undefined
	}
	return truth(g.within(h))
}

func spatialValid(c *Call, args []doc.Value) doc.Value {
	if doc.IsUndefined(args[0]) {
		return undefined
	}
	return truth(spatialMemoOf(c).a.of(args[0]).reason == "")
}

var validShape = doc.Object(doc.With(nil, "valid", yes))

func spatialValidDetailed(c *Call, args []doc.Value) doc.Value {
	if doc.IsUndefined(args[0]) {
		return undefined
	}
	g := spatialMemoOf(c).a.of(args[0])
	if g.reason == "" {
		return validShape
	}
	return doc.Object(doc.With(doc.With(nil, "valid", no), "reason", doc.String(g.reason)))
}
