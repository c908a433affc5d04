package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// origin is where names come from: names of one origin go together.
type origin struct {
	share       int // of a hundred guests
	first, last []string
	phone       func(r *rand.Rand) string // nil: a Swedish one
}

// The guests the café knows best come first, and come often.
var regulars = [][2]string{
	{"Anna", "Lindqvist"},
	{"Bilal", "Haddad"},
	{"Chiara", "Romano"},
	{"David", "Okafor"},
	{"Elif", "Yılmaz"},
	{"Frode", "Nilsen"},
	{"Grace", "Mbeki"},
	{"Hugo", "Martín"},
	{"Ines", "Duarte"},
	{"Jonas", "Weber"},
}

var origins = []origin{
	{
		share: 44,
		first: strings.Fields(`Alice Alma Anders Astrid Axel Birgitta Björn Elsa Emil Erik Eva Filip Frida Gunilla Gustav Hanna Ingrid
			Johan Karin Kerstin Klara Lars Lena Linnéa Ludvig Magnus Malin Mats Moa Nils Olle Oskar Pernilla Per Saga Signe Sofia
			Stina Sven Tove Ulrika Viktor Wilma Åsa Örjan`),
		last: strings.Fields(`Ahlström Andersson Berg Bergman Blom Boström Dahl Ek Ekström Engström Eriksson Fors Gustafsson Hallberg
			Hedlund Holm Håkansson Isaksson Johansson Karlsson Larsson Lind Ljung Lundgren Löfgren Malm Nilsson Norberg Nyström
			Olsson Persson Sandberg Sjöberg Ström Svensson Wallin Westerlund Åberg Åkesson Öberg`),
	}, {
		share: 9,
		first: strings.Fields(`Ahmad Amal Dina Farah Hassan Huda Karim Layla Mariam Nour Omar Rami Rania Salma Samir Yasmin Youssef Zaid`),
		last:  strings.Fields(`Aziz Barakat Darwish Farouk Hamdan Khalil Mansour Nasser Qasim Rahman Saleh Shahin`),
	}, {
		share: 7,
		first: strings.Fields(`Ayşe Burak Canan Defne Emre Gül Hakan İpek Kemal Leyla Mehmet Onur Pınar Selin Tuğba Umut Zeynep`),
		last:  strings.Fields(`Aksoy Arslan Çelik Demir Doğan Güneş Kaya Koç Öztürk Polat Şahin Yıldız`),
	}, {
		share: 7,
		first: strings.Fields(`Amelia Benjamin Charlotte Daniel Eleanor Finlay George Harriet Imogen Jack Oliver Rosie Thomas Victoria`),
		last:  strings.Fields(`Ashworth Bennett Carter Davies Ellis Fletcher Hughes Mitchell Palmer Reid Walsh Whitaker`),
		// Ofcom keeps 07700 900000 to 900999 for stories.
		phone: func(r *rand.Rand) string { return fmt.Sprintf("+44 7700 900%03d", r.IntN(1000)) },
	}, {
		share: 6,
		first: strings.Fields(`Aino Eero Elina Heikki Jari Kaisa Matti Mikko Outi Päivi Sanna Timo`),
		last:  strings.Fields(`Heikkinen Hämäläinen Korhonen Laine Lehtonen Mäkinen Niemi Salonen Virtanen`),
	}, {
		share: 5,
		first: strings.Fields(`Alessandro Beatrice Davide Elena Francesco Giulia Lorenzo Martina Paolo Silvia`),
		last:  strings.Fields(`Bianchi Conti Esposito Ferrari Gallo Marino Ricci Russo`),
	}, {
		share: 5,
		first: strings.Fields(`Arash Darya Ehsan Fatemeh Kian Mahsa Nasrin Parisa Reza Shirin`),
		last:  strings.Fields(`Ahmadi Ebrahimi Hosseini Jafari Karimi Moradi Rostami Tehrani`),
	}, {
		share: 4,
		first: strings.Fields(`Agnieszka Jakub Katarzyna Łukasz Magdalena Piotr Tomasz Zofia`),
		last:  strings.Fields(`Dąbrowski Kowalczyk Lewandowski Nowak Wiśniewski Wójcik Zieliński`),
	}, {
		share: 4,
		first: strings.Fields(`Camille Élodie Julien Mathilde Nicolas Océane Rémi Théo`),
		last:  strings.Fields(`Bernard Dubois Fontaine Lefèvre Moreau Petit Rousseau`),
		// Arcep keeps 06 39 98 for stories.
		phone: func(r *rand.Rand) string { return fmt.Sprintf("+33 6 39 98 %02d %02d", r.IntN(100), r.IntN(100)) },
	}, {
		share: 3,
		first: strings.Fields(`Abdi Asha Faduma Hodan Ismail Nasra Sahra Warsame`),
		last:  strings.Fields(`Abdullahi Farah Hersi Mohamud Nur Warsame`),
	}, {
		share: 3,
		first: strings.Fields(`Alejandro Carmen Javier Lucía Marta Pablo Rocío Sergio`),
		last:  strings.Fields(`Castillo García Jiménez Muñoz Navarro Ortega`),
	}, {
		share: 3,
		first: strings.Fields(`Aditi Arjun Chen Jun Mei Priya Rohan Wei`),
		last:  strings.Fields(`Iyer Kapoor Li Patel Sharma Wang Zhao`),
	},
}

// crowd hands out guests: none has the name, the phone or the e-mail of another.
type crowd struct {
	r       *rand.Rand
	taken   map[string]bool // names, phones and e-mails
	met     int
	swedish int // numbers handed out
}

func newCrowd(r *rand.Rand) *crowd { return &crowd{r: r, taken: map[string]bool{}} }

// take reports whether something was free, and takes it.
func (c *crowd) take(what string) bool {
	free := !c.taken[what]
	c.taken[what] = true
	return free
}

// next is a guest's name, phone and, for seven in ten, e-mail.
func (c *crowd) next() (first, last, phone string, email *string) {
	var from *origin
	if known := c.met < len(regulars); known {
		first, last = regulars[c.met][0], regulars[c.met][1]
		c.take(first + " " + last)
		from = &origins[0]
	} else {
		from = c.origin()
		for first, last = one(c.r, from.first), one(c.r, from.last); !c.take(first + " " + last); {
			first, last = one(c.r, from.first), one(c.r, from.last)
		}
	}
	c.met++
	if c.met <= len(regulars) || c.r.IntN(10) < 7 {
		address := c.email(first, last)
		email = &address
	}
	return first, last, c.phone(from), email
}

func (c *crowd) origin() *origin {
	n := c.r.IntN(100)
	for i := range origins {
		if n -= origins[i].share; n < 0 {
			return &origins[i]
		}
	}
	return &origins[0]
}

// phone is a number that rings nowhere. The Swedish ones are 070-174 06 05 to 99,
// which the authority keeps for stories, and, those being 95, numbers of 074-1:
// they read like a mobile's and belong to nobody.
func (c *crowd) phone(from *origin) string {
	if from.phone != nil {
		for {
			if number := from.phone(c.r); c.take(number) {
				return number
			}
		}
	}
	c.swedish++
	if c.swedish <= 95 {
		return written(c.r, fmt.Sprintf("70174%04d", 604+c.swedish))
	}
	for {
		if number := fmt.Sprintf("741%06d", c.r.IntN(1_000_000)); c.take(number) {
			return written(c.r, number)
		}
	}
}

// written is a Swedish number (nine digits after the 0) in one of the ways people write one.
func written(r *rand.Rand, n string) string {
	switch r.IntN(10) {
	case 0:
		return "0" + n
	case 1, 2, 3:
		return fmt.Sprintf("0%s-%s %s %s", n[:2], n[2:5], n[5:7], n[7:])
	default:
		return fmt.Sprintf("+46 %s %s %s %s", n[:2], n[2:5], n[5:7], n[7:])
	}
}

func (c *crowd) email(first, last string) string {
	first, last = plain(first), plain(last)
	domains := []string{"example.com", "example.org", "example.net"}
	for attempt := 0; ; attempt++ {
		local := one(c.r, []string{first + "." + last, first + "." + last, first + last, first[:1] + "." + last, last + "." + first})
		if attempt > 5 {
			local = fmt.Sprintf("%s.%s%d", first, last, 60+c.r.IntN(40))
		}
		if address := local + "@" + one(c.r, domains); c.take(address) {
			return address
		}
	}
}

// Addresses are written without the signs above and below the letters.
var plainLetters = strings.NewReplacer("å", "a", "ä", "a", "ö", "o", "é", "e", "è", "e", "í", "i", "ı", "i", "i̇", "i", "ç", "c", "ğ", "g",
	"ş", "s", "ü", "u", "ú", "u", "ó", "o", "ñ", "n", "ł", "l", "ą", "a", "ś", "s", "ń", "n")

func plain(name string) string { return plainLetters.Replace(strings.ToLower(name)) }

func one[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
