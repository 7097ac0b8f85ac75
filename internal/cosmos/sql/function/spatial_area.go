package function

import "math"

// area is the area of all polygons in square metres.
func (g *geometry) area() float64 {
	sum := 0.0
	for _, p := range g.polygons {
		sum += g.areaLeft(&g.rings[p.from])
		for i := p.from + 1; i < p.to; i++ {
			hole := &g.rings[i]
			if hole.left {
				sum -= surface - g.areaLeft(hole)
			} else {
				sum -= g.areaLeft(hole)
			}
		}
	}
	return sum
}

// surface is the area of the ellipsoid.
var surface = 4 * math.Pi * areaOfUnit

// areaOfUnit is the average area of a steradian, and areaTerms its dependence on latitude. Between the equator and
// the latitude with sine s the area of a radian of longitude is q(s) = b² Σ e²ᵏ (k+1)/(2k+1) s²ᵏ⁺¹, so the average is
// q(1), and q(s) - q(1)s = -b² s(1-s²) H(s²), where areaTerms are the coefficients of the polynomial H.
var areaOfUnit, areaTerms = func() (float64, [8]float64) {
	var terms [8]float64
	sum, power := 1.0, 1.0
	for k := 1; k <= len(terms); k++ {
		power *= eccentricity2
		a := power * float64(k+1) / float64(2*k+1)
		sum += a
		for j := range k {
			terms[j] += a
		}
	}
	return polarRadius * polarRadius * sum, terms
}()

// areaLeft is the area on the left of a ring. By Stokes' theorem it is the solid angle times the average area, plus
// -∮(q(s)-q(1)s)dλ. On a great circle dλ is the z of its normal divided by (1-s²), times the angle, which removes the
// singularity at the poles.
func (g *geometry) areaLeft(r *ring) float64 {
	rest := 0.0
	for i := r.from; i < r.to; i++ {
		rest += g.edges[i].areaRest()
	}
	return areaOfUnit*g.solidAngle(r) + polarRadius*polarRadius*rest
}

// areaRest is z∫sH(s²)dt along an edge, by Gaussian quadrature with five nodes per half radian.
func (e *edge) areaRest() float64 {
	nodes := [5]float64{-0.906179845938664, -0.5384693101056831, 0, 0.5384693101056831, 0.906179845938664}
	weights := [5]float64{0.23692688505618908, 0.47862867049936647, 0.5688888888888889, 0.47862867049936647,
		0.23692688505618908}
	length := e.angle()
	pieces := math.Ceil(length / 0.5)
	half := length / pieces / 2
	sum := 0.0
	for piece := 0.0; piece < pieces; piece++ {
		for i, node := range nodes {
			s := e.at(half * (2*piece + 1 + node)).z
			sum += weights[i] * half * s * areaWorth(s*s)
		}
	}
	return e.normal.z * sum
}

// areaWorth is H, by Horner's rule.
func areaWorth(s2 float64) float64 {
	h := 0.0
	for j := len(areaTerms) - 1; j >= 0; j-- {
		h = h*s2 + areaTerms[j]
	}
	return h
}

// solidAngle is the solid angle on the left of a ring, from 0 to 4π: the sum of the triangles between its edges and
// one point.
func (g *geometry) solidAngle(r *ring) float64 {
	points := g.points[r.from:r.to]
	apex := apexFor(points)
	sum := 0.0
	for i, b := range points {
		c := points[(i+1)%len(points)]
		// The triple product of differences keeps the digits of small triangles.
		volume := apex.dot(b.minus(apex).cross(c.minus(apex)))
		sum += 2 * math.Atan2(volume, 1+apex.dot(b)+b.dot(c)+c.dot(apex))
	}
	if sum = math.Mod(sum, 4*math.Pi); sum < 0 {
		sum += 4 * math.Pi
	}
	return sum
}

// apexFor chooses a point of a ring without an antipodal point in the ring.
func apexFor(points []position) position {
	for i, p := range points {
		opposite := false
		for _, q := range points {
			opposite = opposite || p.dot(q) < -1+1e-9
		}
		if !opposite || i == 15 {
			return p
		}
	}
	return points[0]
}
