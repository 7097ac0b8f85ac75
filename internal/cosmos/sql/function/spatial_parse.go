package function

import (
	"fmt"
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
)

// maxPoints is the service's limit on the points of one shape.
const maxPoints = 4096

// A kind is a GeoJSON type that the service supports.
type kind uint8

const (
	kindPoint kind = iota
	kindLine
	kindPolygon
	kindMultiPolygon
)

func kindNamed(name string) (kind, bool) {
	switch name {
	case "Point":
		return kindPoint, true
	case "LineString":
		return kindLine, true
	case "Polygon":
		return kindPolygon, true
	case "MultiPolygon":
		return kindMultiPolygon, true
	}
	return 0, false
}

// A geometry is a shape parsed from GeoJSON (RFC 7946).
type geometry struct {
	call     *Call // counts work; may be nil
	kind     kind
	points   []position // without repeated neighbours, and without the last point of rings
	edges    []edge     // between neighbouring points, in the order of points
	rings    []ring     // of each polygon the outer ring first
	polygons []polygon
	tree     tree
	count    int    // number of points in the input
	reason   string // why the shape is not valid, or ""
}

// A ring is a closed sequence of edges.
type ring struct {
	from, to int  // range of its edges and points
	left     bool // the polygon is on its left, so its points are counter-clockwise
}

// A polygon is an outer ring and holes.
type polygon struct{ from, to int } // range of its rings

// edgeUnits is the cost of comparing an edge with all others by means of a tree.
const edgeUnits = 256

// late reports that the time of the query is up. A loop over edges then ends, and its result is meaningless.
func (g *geometry) late() bool { return g.call != nil && g.call.spend(edgeUnits) }

// fail records a reason, unless there is one already.
func (g *geometry) fail(format string, args ...any) {
	if g.reason == "" {
		g.reason = fmt.Sprintf(format, args...)
	}
}

// read parses v in the memory of the last shape.
func (g *geometry) read(v doc.Value) {
	g.points, g.edges, g.rings, g.polygons = g.points[:0], g.edges[:0], g.rings[:0], g.polygons[:0]
	g.count, g.reason = 0, ""
	d, ok := doc.AsDoc(v)
	if !ok {
		g.fail("The input is not a GeoJSON object.")
		return
	}
	name, _ := doc.AsString(doc.Lookup(d, "type"))
	if g.kind, ok = kindNamed(name); !ok {
		g.fail("The type must be Point, LineString, Polygon or MultiPolygon.")
		return
	}
	g.readShape(doc.Lookup(d, "coordinates"))
	if g.reason == "" && g.kind != kindPoint {
		g.tree.build(g.edges)
		g.check()
	}
}

func (g *geometry) readShape(coordinates doc.Value) {
	if !doc.IsArray(coordinates) {
		g.fail("The coordinates must be an array.")
		return
	}
	switch g.kind {
	case kindPoint:
		g.readPosition(coordinates)
	case kindLine:
		g.readLine(coordinates)
	case kindPolygon:
		g.readPolygon(coordinates)
	case kindMultiPolygon:
		for e := range doc.Elements(coordinates) {
			if g.readPolygon(e); g.reason != "" {
				return
			}
		}
	}
}

// readPosition appends the point v.
func (g *geometry) readPosition(v doc.Value) {
	longitude, latitude, ok := degreesOf(v)
	if !ok {
		g.fail("A position must be an array of at least two numbers.")
		return
	}
	if g.count++; g.count > maxPoints {
		g.fail("Maximum allowed point count per geometry is exceeded. Currently maximum supported number of points is "+
			"%d.", maxPoints)
		return
	}
	// This form of the condition rejects NaN too.
	if !(math.Abs(latitude) <= 90) {
		g.fail("Latitude values must be between -90 and 90 degrees.")
		return
	}
	if !(math.Abs(longitude) <= 180) {
		g.fail("Longitude values must be between -180 and 180 degrees.")
		return
	}
	g.points = append(g.points, onSphere(longitude, latitude))
}

// degreesOf are the first two numbers of a position. A third is the altitude, which is ignored.
func degreesOf(v doc.Value) (longitude, latitude float64, ok bool) {
	n := 0
	for e := range doc.Elements(v) {
		f, isNumber := doc.AsFloat(e)
		if !isNumber {
			return 0, 0, false
		}
		switch n {
		case 0:
			longitude = f
		case 1:
			latitude = f
		}
		n++
	}
	return longitude, latitude, n >= 2
}

// readPoints parses an array of positions, and returns their number. Equal neighbours become one point.
func (g *geometry) readPoints(v doc.Value) (count int) {
	if !doc.IsArray(v) {
		g.fail("The positions must be an array.")
		return 0
	}
	from := len(g.points)
	for e := range doc.Elements(v) {
		if g.readPosition(e); g.reason != "" {
			return 0
		}
		count++
		if last := len(g.points) - 1; last > from && g.points[last].near(g.points[last-1]) {
			g.points = g.points[:last]
		}
	}
	return count
}

func (g *geometry) readLine(v doc.Value) {
	g.readPoints(v)
	if len(g.points) < 2 {
		g.fail("The LineString input is not valid because it does not have enough distinct points. A LineString must " +
			"have at least two distinct points.")
		return
	}
	for i := range len(g.points) - 1 {
		g.addEdge(g.points[i], g.points[i+1])
	}
}

func (g *geometry) addEdge(from, to position) {
	if from.near(to.times(-1)) {
		g.fail("An edge must not connect antipodal points.")
		return
	}
	g.edges = append(g.edges, edgeOf(from, to))
}

func (g *geometry) readPolygon(v doc.Value) {
	if !doc.IsArray(v) {
		g.fail("A polygon must be an array of rings.")
		return
	}
	from := len(g.rings)
	for e := range doc.Elements(v) {
		if g.readRing(e, len(g.rings)-from+1); g.reason != "" {
			return
		}
	}
	if from == len(g.rings) {
		g.fail("A polygon must have at least one ring.")
		return
	}
	g.polygons = append(g.polygons, polygon{from, len(g.rings)})
}

// readRing appends a ring; number is its number in messages.
func (g *geometry) readRing(v doc.Value, number int) {
	from := len(g.points)
	count := g.readPoints(v)
	if g.reason != "" {
		return
	}
	last := len(g.points) - 1
	if count < 4 {
		g.fail("The Polygon input is not valid because the ring number %d does not have enough points. Each ring of a "+
			"polygon must contain at least four points.", number)
		return
	}
	if !g.points[from].near(g.points[last]) {
		g.fail("The Polygon input is not valid because the start and end points of the ring number %d are not the "+
			"same. Each ring of a polygon must have the same start and end points.", number)
		return
	}
	if last-from < 3 {
		g.fail("The Polygon input is not valid because the ring number %d does not have enough distinct points. Each "+
			"ring of a polygon must contain at least three distinct points.", number)
		return
	}
	g.points = g.points[:last]
	for i := from; i < last; i++ {
		next := i + 1
		if next == last {
			next = from
		}
		g.addEdge(g.points[i], g.points[next])
	}
	g.rings = append(g.rings, ring{from: from, to: last, left: true})
}
