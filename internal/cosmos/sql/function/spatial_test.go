package function

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func pointText(longitude, latitude float64) string {
	return fmt.Sprintf(`{"type":"Point","coordinates":[%v,%v]}`, longitude, latitude)
}

func lineText(coordinates string) string {
	return `{"type":"LineString","coordinates":` + coordinates + `}`
}

func polygonText(coordinates string) string {
	return `{"type":"Polygon","coordinates":` + coordinates + `}`
}

func multiText(coordinates string) string {
	return `{"type":"MultiPolygon","coordinates":` + coordinates + `}`
}

// rectangle is a counter-clockwise ring.
func rectangle(west, south, east, north float64) string {
	return fmt.Sprintf(`[[%v,%v],[%v,%v],[%v,%v],[%v,%v],[%v,%v]]`, west, south, east, south, east, north, west,
		north, west, south)
}

// circle is a counter-clockwise ring of that many points.
func circle(longitude, latitude, radius float64, points int) string {
	var b strings.Builder
	for i := range points + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i%points) / float64(points))
		fmt.Fprintf(&b, ",[%v,%v]", longitude+radius*cos, latitude+radius*sin)
	}
	return "[" + b.String()[1:] + "]"
}

func number(t testing.TB, name, args string) float64 {
	t.Helper()
	got := evaluate(t, name, args)
	f, err := strconv.ParseFloat(got, 64)
	if err != nil {
		t.Fatalf("%s(%.100s) is %s", name, args, got)
	}
	return f
}

func isNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9f, want %.9f", what, got, want)
	}
}

// The examples of the reference's pages.
func TestSpatialExamples(t *testing.T) {
	reference := pointText(-122.11758113953535, 47.66901087006131)
	isNear(t, "headquarters", number(t, "ST_DISTANCE", pointText(-122.12826822304672, 47.63980239335718)+", "+
		reference), 3345.269817267368, 1e-4)
	isNear(t, "research", number(t, "ST_DISTANCE", pointText(-96.84368664765994, 46.81297794314663)+", "+reference),
		1907438.421299902, 1e-4)
	isNear(t, "area", number(t, "ST_AREA", polygonText(`[[[31.8,-5],[32,-5],[32,-4.7],[31.8,-4.7],[31.8,-5]]]`)),
		735970283.0522614, 0.1)

	valid, invalid := pointText(-84.38876194345323, 33.75682784306348), pointText(133.75682784306348,
		-184.38876194345323)
	campus := polygonText(`[[[-122.13236581015025,47.64606476313813],[-122.13221982500913,47.633757091363975],` +
		`[-122.11840598103835,47.641749416109235],` +
		`[-122.12061400629656,47.64589264786028],[-122.13236581015025,47.64606476313813]]]`)
	runCalls(t, []callCase{
		{"ST_ISVALID", valid, "true"}, {"ST_ISVALID", invalid, "false"},
		{"ST_ISVALIDDETAILED", valid, `{"valid":true}`},
		{"ST_ISVALIDDETAILED", invalid,
			`{"valid":false,"reason":"Latitude values must be between -90 and 90 degrees."}`},
		{"ST_WITHIN", pointText(-122.12824857332558, 47.6395516675712) + ", " + campus, "true"},
		{"ST_ISVALID",
			multiText(`[[[[52.0,12.0],[53.0,12.0],[53.0,13.0],[52.0,13.0],[52.0,12.0]]],[[[50.0,0.0],[51.0,` +
				`0.0],[51.0,5.0],[50.0,5.0],[50.0,0.0]]]]`), "true"},
	})
}

// Results of a hosted account (Azure/azure-cosmos-dotnet-v3, issue 2766): the edge between two points of the same
// latitude is the shortest path and not a parallel.
func TestEdgesAreGreatCircles(t *testing.T) {
	field := polygonText(`[[[19,49],[19,48],[20,48],[20,49],[19,49]]]`)
	runCalls(t, []callCase{
		{"ST_WITHIN", pointText(19.59907, 48.00011) + ", " + field, "false"},
		{"ST_WITHIN", pointText(19.59907, 48.00105) + ", " + field, "true"},
	})
}

func TestGeometriesValid(t *testing.T) {
	many := circle(0, 0, 1, 5000)
	for _, c := range []struct{ name, text, want string }{
		{"position of three", `{"type":"Point","coordinates":[1,2,300]}`, ""},
		{"pole and date line", pointText(180, -90), ""},
		{"line", lineText(`[[0,0],[1,1],[0,1],[1,0]]`), ""},
		{"polygon", polygonText("[" + rectangle(0, 0, 1, 1) + "]"), ""},
		{"clockwise", polygonText(`[[[0,0],[0,1],[1,1],[1,0],[0,0]]]`), ""},
		{"hole", polygonText("[" + rectangle(0, 0, 4, 4) + "," + rectangle(1, 1, 2, 2) + "]"), ""},
		{"holes touch in a point", polygonText("[" + rectangle(0, 0, 9,
			9) + ",[[1,1],[2,1],[2,2],[1,1]],[[2,2],[3,2],[3,3],[2,2]]]"), ""},
		{"over the date line", polygonText(`[[[179,0],[-179,0],[-179,1],[179,1],[179,0]]]`), ""},
		{"date line on both sides", polygonText(`[[[180,0],[-179,0],[-179,1],[-180,0]]]`), ""},
		{"around the pole", polygonText(`[[[0,80],[120,80],[-120,80],[0,80]]]`), ""},
		{"repeated points", polygonText(`[[[0,0],[0,0],[1,0],[1,0],[1,1],[0,0],[0,0]]]`), ""},
		{"no polygons", multiText(`[]`), ""},
		{"polygons touch in a point", multiText("[[" + rectangle(0, 0, 1, 1) + "],[[[1,1],[2,1],[2,2],[1,1]]]]"), ""},
		{"the most points", polygonText("[" + circle(0, 0, 1, 4095) + "]"), ""},

		{"no object", `[1,2]`, "not a GeoJSON"}, {"null", `null`, "not a GeoJSON"}, {"text", `"Point"`,
			"not a GeoJSON"},
		{"no type", `{"coordinates":[1,2]}`, "The type"}, {"small letters", `{"type":"point","coordinates":[1,2]}`,
			"The type"},
		{"unknown type", `{"type":"MultiPoint","coordinates":[[1,2]]}`, "The type"},
		{"no coordinates", `{"type":"Point"}`, "must be an array"}, {"one number",
			`{"type":"Point","coordinates":[1]}`, "two numbers"},
		{"no numbers", `{"type":"Point","coordinates":["1",2]}`, "two numbers"}, {"a number",
			`{"type":"LineString","coordinates":[1,2]}`, "two numbers"},
		{"north of the pole", pointText(0, 90.5), "Latitude"}, {"too far east", pointText(180.5, 0), "Longitude"},
		{"line of a point", lineText(`[[0,0]]`), "two distinct"}, {"line of equal points", lineText(`[[0,0],[0,0]]`),
			"two distinct"},
		{"edge to the other side", lineText(`[[0,0],[180,0]]`), "antipodal"},
		{"ring not closed", polygonText(`[[[31.8,-5],[31.8,-4.7],[32,-4.7],[32,-5]]]`),
			"start and end points of the ring number 1 are not the same"},
		{"second ring not closed", polygonText("[" + rectangle(0, 0, 4, 4) + ",[[1,1],[2,1],[2,2],[1,2]]]"),
			"ring number 2 are not the same"},
		{"ring of three", polygonText(`[[[0,0],[1,0],[0,0]]]`), "enough points"}, {"ring of two points",
			polygonText(`[[[0,0],[1,0],[1,0],[0,0]]]`), "enough distinct points"},
		{"no rings", polygonText(`[]`), "at least one ring"}, {"ring is no array", polygonText(`[1]`),
			"positions must be an array"},
		{"bow tie", polygonText(`[[[0,0],[1,1],[1,0],[0,1],[0,0]]]`), "cross"},
		{"spike", polygonText(`[[[0,0],[1,0],[1,1],[1,2],[1,1],[0,1],[0,0]]]`), "cross"},
		{"ring along itself", polygonText(`[[[0,0],[0,2],[0,1],[1,1],[0,0]]]`), "cross"},
		{"hole crosses", polygonText("[" + rectangle(0, 0, 4, 4) + "," + rectangle(3, 3, 5, 5) + "]"), "cross"},
		{"hole outside", polygonText("[" + rectangle(0, 0, 4, 4) + "," + rectangle(5, 5, 6, 6) + "]"),
			"outside of the first"},
		{"hole in a hole", polygonText("[" + rectangle(0, 0, 9, 9) + "," + rectangle(1, 1, 8, 8) + "," + rectangle(2,
			2, 3, 3) + "]"), "inside of another"},
		{"polygons cross", multiText("[[" + rectangle(0, 0, 2, 2) + "],[" + rectangle(1, 1, 3, 3) + "]]"), "cross"},
		{"polygon in a polygon", multiText("[[" + rectangle(0, 0, 9, 9) + "],[" + rectangle(1, 1, 3, 3) + "]]"),
			"polygons overlap"},
		{"polygon twice", multiText("[[" + rectangle(0, 0, 9, 9) + "],[" + rectangle(0, 0, 9, 9) + "]]"),
			"cross or overlap"},
		{"too many points", polygonText("[" + many + "]"), "Maximum allowed point count"}, {"too many in a line",
			lineText(many), "Maximum allowed point count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := evaluate(t, "ST_ISVALIDDETAILED", c.text)
			if c.want == "" && got != `{"valid":true}` || !strings.Contains(got, c.want) {
				t.Errorf("got %.200s, want %q", got, c.want)
			}
			if valid := evaluate(t, "ST_ISVALID", c.text); valid != strconv.FormatBool(c.want == "") {
				t.Errorf("ST_ISVALID is %s", valid)
			}
			if c.want != "" {
				for _, call := range []callCase{{name: "ST_AREA", args: c.text}, {name: "ST_DISTANCE",
					args: c.text + "," + pointText(0, 0)}, {name: "ST_WITHIN", args: pointText(0, 0) + "," + c.text}} {
					if got := evaluate(t, call.name, call.args); got != "undefined" {
						t.Errorf("%s of it is %s", call.name, got)
					}
				}
			}
		})
	}
	runCalls(t, []callCase{
		{"ST_ISVALID", "undefined", "undefined"}, {"ST_ISVALIDDETAILED", "undefined", "undefined"}, {"ST_AREA",
			"undefined", "undefined"},
		{"ST_DISTANCE", "undefined, " + pointText(0, 0), "undefined"}, {"ST_INTERSECTS", "1, " + pointText(0, 0),
			"undefined"},
	})
}

func TestWithinAndIntersects(t *testing.T) {
	square := polygonText("[" + rectangle(0, 0, 4, 4) + "]")
	holed := polygonText("[" + rectangle(0, 0, 4, 4) + "," + rectangle(1, 1, 3, 3) + "]")
	world := polygonText(`[[[0,0],[0,4],[4,4],[4,0],[0,0]]]`)
	two := multiText("[[" + rectangle(0, 0, 1, 1) + "],[" + rectangle(3, 0, 4, 1) + "]]")
	cap := polygonText(`[[[0,80],[120,80],[-120,80],[0,80]]]`)
	dateLine := polygonText(`[[[179,0],[-179,0],[-179,1],[179,1],[179,0]]]`)
	line := lineText(`[[1,1],[2,2],[3,2]]`)
	none := multiText(`[]`)
	for _, c := range []struct {
		name, a, b         string
		within, intersects bool
	}{
		{"point in square", pointText(1, 1), square, true, true}, {"point beside", pointText(5, 1), square, false,
			false},
		{"point on a corner", pointText(0, 0), square, false, true}, {"point on an edge", pointText(0, 2), square,
			false, true}, {"on the equator", pointText(2, 0), square, false, true},
		{"point on the other side", pointText(-178, -2), square, false, false},
		{"point in the hole", pointText(2, 2), holed, false, false}, {"point beside the hole", pointText(0.5, 2),
			holed, true, true}, {"point on the hole's edge", pointText(1, 2), holed, false, true},
		{"point in the world but the square", pointText(100, 40), world, true, true}, {"point in the square",
			pointText(1, 1), world, false, false},
		{"point in the first", pointText(0.5, 0.5), two, true, true}, {"point in the second", pointText(3.5, 0.5),
			two, true, true}, {"point between", pointText(2, 0.5), two, false, false},
		{"pole", pointText(0, 90), cap, true, true}, {"pole at another longitude", pointText(77, 90), cap, true,
			true}, {"south pole", pointText(0, -90), cap, false, false},
		{"point on the date line", pointText(180, 0.5), dateLine, true, true}, {"the same with a minus",
			pointText(-180, 0.5), dateLine, true, true}, {"point at zero", pointText(0, 0.5), dateLine, false, false},
		{"equal points", pointText(1, 1), pointText(1, 1), true, true}, {"other points", pointText(1, 1), pointText(1,
			1.0001), false, false},
		{"point on a line", pointText(2, 2), line, true, true}, {"end of a line", pointText(1, 1), line, false, true},
		{"point beside a line", pointText(2, 1), line, false, false},
		{"start of a closed line", pointText(0, 0), lineText(rectangle(0, 0, 1, 1)), true, true},
		{"line in square", line, square, true, true}, {"line in the world", line, world, false, false},
		{"line over the edge", lineText(`[[1,1],[5,1]]`), square, false, true},
		{"line along the edge", lineText(`[[0,0],[0,4]]`), square, false, true}, {"line along and in",
			lineText(`[[0,0],[0,4],[2,2]]`), square, true, true},
		{"line through the hole", lineText(`[[0.5,2],[3.5,2]]`), holed, false, true}, {"line around the hole",
			lineText(`[[0.5,0.5],[3.5,0.5],[3.5,3.5]]`), holed, true, true},
		{"line from corner to corner", lineText(`[[0,0],[4,4]]`), square, true, true}, {"line beyond a corner",
			lineText(`[[-1,-1],[0,0]]`), square, false, true},
		{"line across", lineText(`[[-1,2],[5,2]]`), square, false, true}, {"line beside", lineText(`[[5,0],[6,4]]`),
			square, false, false},
		{"line on a line", lineText(`[[0,1],[0,2]]`), lineText(`[[0,0],[0,3]]`), true, true},
		{"line longer than a line", lineText(`[[0,1],[0,4]]`), lineText(`[[0,0],[0,3]]`), false, true},
		{"lines cross", lineText(`[[0,0],[2,2]]`), lineText(`[[0,2],[2,0]]`), false, true}, {"lines apart",
			lineText(`[[0,0],[2,2]]`), lineText(`[[3,0],[3,2]]`), false, false},
		{"line and point", lineText(`[[0,0],[0,2]]`), pointText(0, 1), false, true}, {"polygon and line", square,
			line, false, true}, {"polygon and point", square, pointText(1, 1), false, true},
		{"square in itself", square, square, true, true}, {"small in square", polygonText("[" + rectangle(1, 1, 2,
			2) + "]"), square, true, true}, {"square in small", square, polygonText("[" + rectangle(1, 1, 2,
			2) + "]"), false, true},
		{"square over the edge", polygonText("[" + rectangle(3, 3, 5, 5) + "]"), square, false, true},
		{"square beside", polygonText("[" + rectangle(5, 0, 6, 1) + "]"), square, false, false},
		{"neighbours", polygonText("[" + rectangle(4, 0, 8, 4) + "]"), square, false, true}, {"touching from inside",
			polygonText(`[[[0,0],[4,0],[2,2],[0,0]]]`), square, true, true},
		{"square over a hole", square, holed, false, true}, {"holed in square", holed, square, true, true},
		{"filling of the hole", polygonText("[" + rectangle(1, 1, 3, 3) + "]"), holed, false, true},
		{"small in the hole", polygonText("[" + rectangle(1.5, 1.5, 2.5, 2.5) + "]"), holed, false, false},
		{"square and the rest of the world", square, world, false, true},
		{"two in the square", two, square, true, true}, {"square in two", square, two, false, true}, {"second of two",
			polygonText("[" + rectangle(3, 0, 4, 1) + "]"), two, true, true},
		{"over the gap", polygonText("[" + rectangle(0.25, 0.25, 3.75, 0.75) + "]"), two, false, true}, {"two in two",
			two, two, true, true},
		{"two worlds", world, polygonText(`[[[10,10],[10,14],[14,14],[14,10],[10,10]]]`), false, true},
		{"cap in a half", cap, polygonText(`[[[0,0],[90,0],[180,0],[-90,0],[0,0]]]`), true, true},
		{"nothing", none, square, false, false}, {"in nothing", square, none, false, false}, {"point in nothing",
			pointText(0, 0), none, false, false}, {"line in nothing", line, none, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evaluate(t, "ST_WITHIN", c.a+", "+c.b); got != strconv.FormatBool(c.within) {
				t.Errorf("ST_WITHIN is %s", got)
			}
			for _, args := range []string{c.a + ", " + c.b, c.b + ", " + c.a} {
				if got := evaluate(t, "ST_INTERSECTS", args); got != strconv.FormatBool(c.intersects) {
					t.Errorf("ST_INTERSECTS is %s", got)
				}
			}
			distance := evaluate(t, "ST_DISTANCE", c.a+", "+c.b)
			if c.a == none || c.b == none {
				if distance != "undefined" {
					t.Errorf("ST_DISTANCE is %s", distance)
				}
			} else if (distance == "0") != c.intersects {
				t.Errorf("ST_DISTANCE is %s", distance)
			}
		})
	}
}

func TestDistances(t *testing.T) {
	square := polygonText("[" + rectangle(0, 0, 4, 4) + "]")
	degree := 111319.49079327357 // of the equator
	for _, c := range []struct {
		name, a, b      string
		want, tolerance float64
	}{
		{"the same", pointText(10, 20), pointText(10, 20), 0, 0},
		{"the same pole", pointText(10, 90), pointText(-50, 90), 0, 1e-8},
		{"a degree of the equator", pointText(0, 0), pointText(1, 0), degree, 1e-7},
		{"a degree of a meridian", pointText(0, 0), pointText(0, 1), 110574.38855779878, 1e-5},
		{"equator to pole", pointText(33, 0), pointText(33, 90), 10001965.729312733, 1e-4},
		{"pole to pole", pointText(0, -90), pointText(0, 90), 20003931.458625466, 1e-4},
		{"the other side of the equator", pointText(0, 0), pointText(180, 0), 20003931.458625466, 1e-4},
		{"over the date line", pointText(179.5, 0), pointText(-179.5, 0), degree, 1e-6},
		{"a millimetre", pointText(0, 0), pointText(1e-8, 0), degree * 1e-8, 1e-9},
		{"to the east of a square", pointText(5, 0), square, degree, 1e-6},
		{"square and point", square, pointText(5, 0), degree, 1e-6},
		{"line over a point", pointText(1, 1), lineText(`[[0,0],[2,0]]`), 110574.38855779878, 1e-3},
		{"squares", square, polygonText("[" + rectangle(5, 0, 6, 4) + "]"), 111049.5, 50},
		{"two of which one is near", multiText("[[" + rectangle(40, 0, 41, 1) + "],[" + rectangle(-1, 0, 0,
			1) + "]]"), pointText(1, 0), degree, 1e-6},
	} {
		isNear(t, c.name, number(t, "ST_DISTANCE", c.a+", "+c.b), c.want, c.tolerance)
		isNear(t, c.name+", the other way", number(t, "ST_DISTANCE", c.b+", "+c.a), c.want, c.tolerance)
	}
}

// The distance to an edge is compared with the distances to ten thousand positions on it.
func TestDistanceToEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		size := math.Pow(10, -3*random.Float64())
		at := func() position {
			return position{1, size * random.NormFloat64(), 0.5 + size*random.NormFloat64()}.unit()
		}
		p, e := at(), edgeOf(at(), at())
		want := math.Inf(1)
		for i := range 10001 {
			want = min(want, e.at(e.angle()*float64(i)/10000).metres(p))
		}
		got := e.metres(p, math.Inf(1))
		if got > want+1e-6 || got < want*(1-1e-6)-e.angle()*equatorRadius*1e-4 {
			t.Errorf("from %v to %v: %f, by trying %f", p, e, got, want)
		}
	}
}

// The series is compared with numerical integration of the same arc.
func TestArcs(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p := onSphere(360*random.Float64()-180, 180*random.Float64()-90)
		q := onSphere(360*random.Float64()-180, 180*random.Float64()-90)
		u, v := p.reduced(), q.reduced()
		tangentAt := u.cross(v).cross(u).unit()
		sigma, sum := angleBetween(u, v), 0.0
		const steps = 2000
		for i := range steps {
			psi := sigma * (float64(i) + 0.5) / steps
			z := tangentAt.times(math.Cos(psi)).minus(u.times(math.Sin(psi))).z
			sum += math.Sqrt(1-eccentricity2*z*z) * sigma / steps
		}
		isNear(t, "arc", p.metres(q), sum*equatorRadius, 0.01)
	}
}

func TestAreas(t *testing.T) {
	total := 510065621724088.44 // of WGS-84
	eighth := polygonText(`[[[0,0],[90,0],[0,90],[0,0]]]`)
	for _, c := range []struct {
		name, text      string
		want, tolerance float64
	}{
		{"an eighth", eighth, total / 8, 1}, {"all but an eighth", polygonText(`[[[0,0],[0,90],[90,0],[0,0]]]`),
			total * 7 / 8, 1},
		{"a half", polygonText(`[[[0,0],[90,0],[180,0],[-90,0],[0,0]]]`), total / 2, 1}, {"the southern half",
			polygonText(`[[[0,0],[-90,0],[180,0],[90,0],[0,0]]]`), total / 2, 1},
		{"a lune", polygonText(`[[[0,-90],[10,0],[0,90],[0,0],[0,-90]]]`), total / 36, 1},
		{"two eighths", multiText(`[[[[0,0],[90,0],[0,90],[0,0]]],[[[180,0],[-90,0],[0,90],[180,0]]]]`), total / 4, 1},
		{"hole", polygonText(`[[[0,0],[90,0],[0,90],[0,0]],` + rectangle(10, 10, 20, 20) + `]`), total/8 - number(t,
			"ST_AREA", polygonText("["+rectangle(10, 10, 20, 20)+"]")), 1},
		{"hole the other way round", polygonText(`[[[0,0],[90,0],[0,90],[0,0]],[[10,10],[10,20],[20,20],[20,10],[10,` +
			`10]]]`), total/8 - number(t, "ST_AREA", polygonText("["+rectangle(10, 10, 20, 20)+"]")), 1},
		{"a metre", polygonText("[" + rectangle(0, 0, 1e-5, 1e-5) + "]"), 1.1131949079327357 * 1.1057427582, 1e-6},
		{"point", pointText(0, 0), 0, 0}, {"line", lineText(`[[0,0],[1,1]]`), 0, 0}, {"nothing", multiText(`[]`), 0, 0},
	} {
		isNear(t, c.name, number(t, "ST_AREA", c.text), c.want, c.tolerance)
	}
	isNear(t, "the ellipsoid", surface, total, 1)
}

// Shapes with the maximum number of points have a limited cost.
func TestLargestShapes(t *testing.T) {
	a, b := polygonText("["+circle(10, 10, 5, 4095)+"]"), polygonText("["+circle(10, 10, 4, 4095)+"]")
	c := polygonText("[" + circle(30, 10, 5, 4095) + "]")
	if got := evaluate(t, "ST_WITHIN", b+", "+a); got != "true" {
		t.Errorf("ST_WITHIN is %s", got)
	}
	if got := evaluate(t, "ST_INTERSECTS", a+", "+c); got != "false" {
		t.Errorf("ST_INTERSECTS is %s", got)
	}
	isNear(t, "distance", number(t, "ST_DISTANCE", a+", "+c), 1.0964e6, 2e2)
	want := math.Inf(1)
	for i := range 4095 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 4095)
		want = min(want, onSphere(10, 10).metres(onSphere(10+5*cos, 10+5*sin)))
	}
	isNear(t, "from the middle", number(t, "ST_DISTANCE", lineText(circle(10, 10, 5, 4095))+", "+pointText(10, 10)),
		want, 0.5)
	// Teeth whose boxes all lie over each other.
	var comb strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&comb, "[%v,10],[%v,20],", float64(i)*1e-6, 10+float64(i)*1e-6+5e-7)
	}
	if got := evaluate(t, "ST_ISVALID", polygonText("[["+comb.String()+"[30,0],[0,10]]]")); got != "true" {
		t.Errorf("a comb is valid: %s", got)
	}
}

// checkPair compares the results of several functions for two shapes.
func checkPair(t *testing.T, x, y doc.Value) {
	t.Helper()
	var g, h geometry
	g.read(x)
	h.read(y)
	if g.reason != "" || h.reason != "" {
		return
	}
	meet, within := g.intersects(&h), g.within(&h)
	if back := h.intersects(&g); meet != back {
		t.Errorf("%s and %s meet: %v; %v the other way", x, y, meet, back)
	}
	if within && !meet {
		t.Errorf("%s is within %s, but does not meet it", x, y)
	}
	if within && g.area() > h.area()*(1+1e-9) {
		t.Errorf("%s is within %s, but larger", x, y)
	}
	if d, ok := g.distance(&h); ok && ((d == 0) != meet && d > 1e-3 || d < 0) {
		t.Errorf("%s and %s are %v metres apart; they meet: %v", x, y, d, meet)
	}
	if area := g.area(); area < -1 || area > surface+1 {
		t.Errorf("the area of %s is %v", x, area)
	}
}

// Shapes with points on a grid of few degrees share points and edges often.
func TestSpatialPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	shape := func() doc.Value {
		n := 2 + random.IntN(5)
		points := make([]string, n)
		for i := range points {
			points[i] = fmt.Sprintf("[%d,%d]", random.IntN(5)-2, random.IntN(5)-2)
		}
		if n == 2 || random.IntN(6) == 0 {
			return argument(t, lineText("["+strings.Join(points, ",")+"]"))
		}
		return argument(t, polygonText("[["+strings.Join(append(points, points[0]), ",")+"]]"))
	}
	for range 4000 {
		checkPair(t, shape(), shape())
	}
}

// Over a few metres the earth is flat: stars with random rays contain the same points as in the plane.
func TestPointsInStars(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range 100 {
		n := 3 + random.IntN(30)
		xs, ys := make([]float64, n), make([]float64, n)
		var text strings.Builder
		longitude, latitude := 360*random.Float64()-180, 160*random.Float64()-80
		for i := range n + 1 {
			if i < n {
				sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
				ray := 1e-5 * (0.1 + random.Float64())
				xs[i], ys[i] = ray*cos, ray*sin
			}
			fmt.Fprintf(&text, ",[%v,%v]", math.Remainder(longitude+xs[i%n], 360), latitude+ys[i%n])
		}
		var g geometry
		if g.read(argument(t, polygonText("[["+text.String()[1:]+"]]"))); g.reason != "" {
			t.Fatalf("%s: %s", text.String(), g.reason)
		}
		for range 50 {
			x, y := 3e-5*(random.Float64()-0.5), 3e-5*(random.Float64()-0.5)
			in := false
			for i := range n {
				j := (i + 1) % n
				if (ys[i] > y) != (ys[j] > y) && x < (xs[j]-xs[i])*(y-ys[i])/(ys[j]-ys[i])+xs[i] {
					in = !in
				}
			}
			got := g.locate(onSphere(longitude+x, latitude+y))
			if edge := g.tree.nearest(onSphere(longitude+x, latitude+y), math.Inf(1)); (got == inside) != in &&
				edge > 1e-6 {
				t.Errorf("%v, %v is %v, %v m from the edge; in the plane: %v", x, y, got, edge, in)
			}
		}
	}
}

func FuzzSpatial(f *testing.F) {
	f.Add(`{"type":"Point","coordinates":[1,2]}`, polygonText("["+rectangle(0, 0, 4, 4)+","+rectangle(1, 1, 2, 2)+"]"))
	f.Add(lineText(`[[0,0],[1,1]]`), multiText("[["+rectangle(0, 0, 1, 1)+"],["+rectangle(3, 0, 4, 1)+"]]"))
	f.Add(polygonText(`[[[0,80],[120,80],[-120,80],[0,80]]]`), polygonText(`[[[0,0],[0,4],[4,4],[4,0],[0,0]]]`))
	f.Add(polygonText(`[[[0,0],[1,1],[1,0],[0,1],[0,0]]]`), `{"type":"Point","coordinates":[180,90]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, errX := doc.ValueFromJSON([]byte(a))
		y, errY := doc.ValueFromJSON([]byte(b))
		if errX == nil && errY == nil {
			checkPair(t, x, y)
		}
	})
}

func BenchmarkSpatial(b *testing.B) {
	for _, c := range []struct{ name, call, args string }{
		{"points", "ST_DISTANCE", pointText(-122.12826822304672,
			47.63980239335718) + "," + pointText(-122.11758113953535, 47.66901087006131)},
		{"point and square", "ST_DISTANCE", pointText(5, 5) + "," + polygonText("["+rectangle(0, 0, 4, 4)+"]")},
		{"point and 1000 points", "ST_DISTANCE", pointText(20, 5) + "," + polygonText("["+circle(0, 0, 4, 1000)+"]")},
		{"point in square", "ST_WITHIN", pointText(2, 2) + "," + polygonText("["+rectangle(0, 0, 4, 4)+"]")},
		{"point in 1000 points", "ST_WITHIN", pointText(2, 2) + "," + polygonText("["+circle(0, 0, 4, 1000)+"]")},
		{"square in 1000 points", "ST_WITHIN", polygonText("["+rectangle(0, 0, 2, 2)+"]") + "," + polygonText("["+
			circle(0, 0, 4, 1000)+"]")},
		{"area of 1000 points", "ST_AREA", polygonText("[" + circle(0, 0, 4, 1000) + "]")},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, _ := Lookup(c.call)
			args, call := arguments(b, c.args), &Call{}
			b.ReportAllocs()
			for b.Loop() {
				f.Run(call, args)
			}
		})
	}
	b.Run("points, one of which changes", func(b *testing.B) {
		f, _ := Lookup("ST_DISTANCE")
		rows := [2]doc.Value{argument(b, pointText(-122.12826822304672, 47.63980239335718)), argument(b, pointText(10,
			20))}
		args, call, i := []doc.Value{{}, argument(b, pointText(-122.11758113953535, 47.66901087006131))}, &Call{}, 0
		b.ReportAllocs()
		for b.Loop() {
			args[0] = rows[i%2]
			f.Run(call, args)
			i++
		}
	})
	b.Run("reading 4000 points", func(b *testing.B) {
		v := argument(b, polygonText("["+circle(0, 0, 4, 4000)+"]"))
		var g geometry
		b.ReportAllocs()
		for b.Loop() {
			g.read(v)
		}
		if g.reason != "" {
			b.Fatal(g.reason)
		}
	})
}
