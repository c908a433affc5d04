package demo

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
)

// drawn returns a square PNG, seen from above: at says the colour at a distance from the centre, where the
// edge is at 1, and an angle in radians.
func drawn(at func(distance, angle float64) color.RGBA) []byte {
	const side = 240
	picture := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			dx, dy := float64(x)/side*2-1, float64(y)/side*2-1
			picture.SetRGBA(x, y, at(math.Hypot(dx, dy), math.Atan2(dy, dx)))
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		panic(err) // a buffer takes everything
	}
	return file.Bytes()
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// coffee is a cup on its saucer.
func coffee(distance, _ float64) color.RGBA {
	switch {
	case distance > .86:
		return rgb(0xdfe7e2)
	case distance > .62:
		return rgb(0xffffff)
	case distance > .54:
		return rgb(0xe9e3d9)
	case distance > .47:
		return rgb(0x9a6a3d)
	}
	return rgb(0x5a3520)
}

// cinnamonBun is rolled up, its end outside.
func cinnamonBun(distance, angle float64) color.RGBA {
	switch turns := math.Sin(distance*24 - angle); {
	case distance > .84:
		return rgb(0xf6e8d6)
	case turns > .55:
		return rgb(0x7b4420)
	default:
		return rgb(0xd9a05b)
	}
}
