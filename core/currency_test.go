package core_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// The currencies that people pay with, by decimals, from the table of ISO 4217.
var iso4217 = map[int]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD " +
		"EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
		"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR " +
		"SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
}

func TestCurrenciesOfISO4217(t *testing.T) {
	t.Parallel()
	var all []string
	for decimals, codes := range iso4217 {
		for code := range strings.FieldsSeq(codes) {
			all = append(all, code)
			if got := core.CurrencyDecimals(code); got != decimals {
				t.Errorf("%s has %d decimals, want %d", code, got, decimals)
			}
		}
	}
	slices.Sort(all)
	if got := core.Currencies(); !slices.Equal(got, all) {
		t.Errorf("currencies to choose from: %v\nwant: %v", got, all)
	}
}

// A withdrawn currency isn't offered. What is stored in it keeps its decimals.
func TestWithdrawnCurrencies(t *testing.T) {
	t.Parallel()
	for code, decimals := range map[string]int{
		"HRK": 2, "BGN": 2, "ANG": 2, "CUC": 2, "VEF": 2, "DEM": 2, "ZWL": 2, "SLL": 0, "MRO": 0, "STD": 0, "BYR": 0, "ITL": 0, "": 2,
	} {
		if core.IsCurrency(code) || core.CurrencyDecimals(code) != decimals {
			t.Errorf("%s: offered %v, %d decimals, want %d", code, core.IsCurrency(code), core.CurrencyDecimals(code), decimals)
		}
	}
	for _, code := range []string{"XAU", "XXX", "XTS", "CLF", "USN", "eur", "EU"} {
		if core.IsCurrency(code) {
			t.Errorf("%s is offered", code)
		}
	}
}

func TestCurrencyOfACountry(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{
		"SE": "SEK", "HR": "EUR", "BG": "EUR", "CW": "XCG", "SX": "XCG", "SL": "SLE", "MR": "MRU", "VE": "VES", "LS": "LSL", "ZW": "ZWG", "HT": "HTG", "PS": "ILS",
		"CH": "CHF", "US": "USD", "XX": "", "": "",
	} {
		if got := core.CurrencyOf(country); got != want {
			t.Errorf("%s pays with %q, want %q", country, got, want)
		}
	}
}

func TestTypedNumber(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"２，４５０．５０": "2,450.50", "￥2450": "¥2450", "\u2009−５": "-5", "－٥": "-5", "1\u00a0234\u202f567": "1 234 567", "\u200e12\u200b": "12",
		"१२": "12", "12٫5": "12٫5", "1٬234": "1'234", "１４：０５": "14:05", "２０２６－０９－２４": "2026-09-24", "25％": "25%", "2。5": "2.5", "5²": "5²", "½": "½", "1\t2": "1\t2",
	} {
		if got := core.TypedNumber(typed); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}
