package demo

import "math/rand/v2"

// What the café sells, in cents. What is asked for more often stands here more often.
var (
	coffees = []int64{
		320, 320, 320, // filter coffee
		350,           // espresso
		390,           // cortado
		420, 420, 420, // cappuccino
		440, 440, // flat white
		450, 450, // latte
		480, 480, // oat latte
	}
	otherDrinks = []int64{
		350, // tea
		420, // juice
		460, // hot chocolate
		380, // elderflower lemonade
	}
	pastries = []int64{
		390, 390, 390, // cinnamon bun
		390, 390, // cardamom bun
		350,      // croissant
		320,      // chocolate ball
		520, 520, // carrot cake
		590, // princess cake
	}
	lunches = []int64{
		790, 790, // cheese sandwich
		890,      // falafel roll
		990, 990, // soup of the day
		1190, 1190, // quiche with salad
		1250, // shrimp sandwich
		1290, // salad bowl
	}
)

// The most a guest's bill comes to; a larger party pays apart.
const largestBill = 2450

// bill adds up what is ordered, up to the largest bill.
func bill(r *rand.Rand, courses ...[]int64) (cents int64) {
	for _, course := range courses {
		if price := one(r, course); cents+price <= largestBill {
			cents += price
		}
	}
	return cents
}
