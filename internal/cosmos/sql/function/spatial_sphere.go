package function

import "math"

// The ellipsoid of WGS-84, in metres.
const (
	equatorRadius = 6378137.0
	flattening    = 1 / 298.257223563
	polarRadius   = equatorRadius * (1 - flattening)
	eccentricity2 = flattening * (2 - flattening)
)

// Edges of shapes are great elliptic arcs: intersections of the ellipsoid with planes through its centre. The service
// measures along these too: both documented results of ST_DISTANCE agree to 0.1 mm, that of ST_AREA to 0.1 m² of 736
// km², from which geodesics or rhumb lines would be far off. The difference to a geodesic is below 1e-7 of its length
// up to about 1000 km.
//
// Stretched along its axis the ellipsoid becomes a sphere and these arcs great circles. So a position is a unit
// vector with the given longitude and latitude, and topological questions are questions about a sphere.
type position struct{ x, y, z float64 }

// onSphere converts degrees to a position.
func onSphere(longitude, latitude float64) position {
	sinLon, cosLon := math.Sincos(longitude * (math.Pi / 180))
	sinLat, cosLat := math.Sincos(latitude * (math.Pi / 180))
	return position{cosLat * cosLon, cosLat * sinLon, sinLat}
}

func (p position) dot(q position) float64    { return p.x*q.x + p.y*q.y + p.z*q.z }
func (p position) plus(q position) position  { return position{p.x + q.x, p.y + q.y, p.z + q.z} }
func (p position) minus(q position) position { return position{p.x - q.x, p.y - q.y, p.z - q.z} }
func (p position) times(k float64) position  { return position{p.x * k, p.y * k, p.z * k} }
func (p position) length() float64           { return math.Sqrt(p.dot(p)) }
func (p position) cross(q position) position {
	return position{p.y*q.z - p.z*q.y, p.z*q.x - p.x*q.z, p.x*q.y - p.y*q.x}
}

// unit is p with length 1; the zero vector is unchanged.
func (p position) unit() position {
	if n := p.length(); n > 0 {
		return p.times(1 / n)
	}
	return p
}

// crossNear is the cross product. It is also accurate for positions close to each other, because their difference is.
func (p position) crossNear(q position) position { return p.cross(q.minus(p)) }

// reduced is p on the sphere of parametric latitudes, from which the ellipsoid results by flattening.
func (p position) reduced() position {
	return position{p.x, p.y, p.z * (1 - flattening)}.unit()
}

// metres is the length of the shorter great elliptic arc from p to q, with a relative error below 1e-12. Along a
// great circle of the reduced sphere whose highest latitude has the sine m, the arc is a∫√(1-e²m²cos²ψ)dψ, with ψ
// from the equator. The integrand is expanded to a Fourier series in 2ψ up to e⁸, so that short distances do not lose
// digits in a difference.
func (p position) metres(q position) float64 {
	u, v := p.reduced(), q.reduced()
	normal := u.crossNear(v)
	sin, cos := normal.length(), u.dot(v)
	if sin == 0 && cos > 0 {
		return 0
	}
	m2, mid2 := 1.0, 1.0 // antipodal positions: the shortest path is over a pole
	if sin > nearness || cos > 0 {
		z := normal.z / sin
		m2 = 1 - z*z
		mid := u.plus(v).unit()
		mid2 = mid.z * mid.z
	}
	cosMid := 1.0 // of 2ψ in the middle of the arc
	if m2 > 0 {
		cosMid = max(-1, 1-2*mid2/m2)
	}
	return equatorRadius * arcSeries(eccentricity2*m2, math.Atan2(sin, cos), sin, cos, cosMid)
}

// arcSeries is ∫√(1-k cos²ψ)dψ over an arc of length σ, given sin σ, cos σ and the cosine of twice the angle in its
// middle.
func arcSeries(k, angle, sin, cos, cosMid float64) float64 {
	k2 := k * k
	k3, k4 := k2*k, k2*k2
	c0 := 1 - k/4 - 3*k2/64 - 5*k3/256 - 175*k4/16384
	c1 := -k/4 - k2/16 - 15*k3/512 - 35*k4/2048
	c2 := -k2/64 - 3*k3/256 - 35*k4/4096
	c3 := -k3/512 - 5*k4/2048
	sin2, cos2 := 2*sin*cos, 2*cos*cos-1
	sin3 := sin2*cos + cos2*sin
	cosMid2 := 2*cosMid*cosMid - 1
	cosMid3 := 2*cosMid*cosMid2 - cosMid
	return c0*angle + c1*sin*cosMid + c2*sin2*cosMid2/2 + c3*sin3*cosMid3/3
}

// nearness is the distance in radians below which positions count as equal. The rounding error of degrees as doubles
// is smaller; on the ground it is 0.6 µm.
const nearness = 1e-13

func (p position) near(q position) bool {
	d := p.minus(q)
	return d.dot(d) <= nearness*nearness
}

// An edge is the shorter arc between two positions.
type edge struct {
	from, to position
	normal   position // unit vector; its product with positions on the left is positive
}

func edgeOf(from, to position) edge {
	return edge{from, to, from.crossNear(to).unit()}
}

// side is the sine of p's distance to the left of the great circle.
func (e *edge) side(p position) float64 { return e.normal.dot(p.minus(e.from)) }

// along reports whether p, if on the great circle, is on the arc.
func (e *edge) along(p position) bool {
	return e.normal.cross(e.from).dot(p.minus(e.from)) >= -nearness &&
		e.normal.cross(e.to).dot(p.minus(e.to)) <= nearness &&
		e.from.plus(e.to).dot(p) > 0
}

func (e *edge) has(p position) bool {
	return math.Abs(e.side(p)) <= nearness && e.along(p)
}

// angle is the length of the arc in radians.
func (e *edge) angle() float64 { return e.angleTo(e.to) }

// angleTo is the angle from the start of the arc to p.
func (e *edge) angleTo(p position) float64 {
	return math.Atan2(e.normal.cross(e.from).dot(p), e.from.dot(p))
}

// at is the position at that angle from the start of the arc.
func (e *edge) at(angle float64) position {
	sin, cos := math.Sincos(angle)
	return e.from.times(cos).plus(e.normal.cross(e.from).times(sin))
}

// crosses returns the position at which the interiors of two arcs cross.
func (e *edge) crosses(f *edge) (position, bool) {
	if !opposite(e.side(f.from), e.side(f.to)) || !opposite(f.side(e.from), f.side(e.to)) {
		return position{}, false
	}
	at := e.normal.cross(f.normal).unit()
	if at.dot(e.from.plus(e.to)) < 0 {
		at = at.times(-1)
	}
	return at, at.dot(f.from.plus(f.to)) > 0
}

func opposite(a, b float64) bool {
	return a > nearness && b < -nearness || a < -nearness && b > nearness
}

// meet appends the positions at which f touches or crosses e: up to two ends of f or e if they are on the other arc.
func (e *edge) meet(dst []position, f *edge) []position {
	if at, ok := e.crosses(f); ok {
		return append(dst, at)
	}
	for _, p := range [2]position{f.from, f.to} {
		if e.has(p) {
			dst = append(dst, p)
		}
	}
	for _, p := range [2]position{e.from, e.to} {
		if f.has(p) {
			dst = append(dst, p)
		}
	}
	return dst
}
