package auth

// Browser is a browser in words.
var Browser = browser
