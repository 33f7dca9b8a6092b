"""The page's own words in Persian, by the English ones. Sentences of checks stay English."""

DIGITS = str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹")

PERSIAN = {
    "Will precomputing help?": "آیا پیش‌محاسبه کمک می‌کند؟",
    "Why does the GPU wait?": "چرا GPU منتظر می‌ماند؟",
    "fail": "ایراد",
    "warn": "هشدار",
    "cannot tell": "نامعلوم",
    "pass": "سالم",
    "The verdict": "نتیجه",
    "Run this first": "اول این دستور را اجرا کنید",
    "Do this first": "اول این کار را بکنید",
    "What was measured": "اندازه‌گیری‌ها",
    "What to do, most useful first": "چه کار کنید، به ترتیب فایده",
    "Changes of": "تغییرات",
    "What was checked": "بررسی‌ها",
    "The machine": "مشخصات دستگاه",
    "The numbers": "عددها",
    "key": "کلید",
    "change": "تغییر",
    "why": "چرا",
    "what": "مورد",
    "value": "مقدار",
    "how it is known": "از کجا می‌دانیم",
    "The lines of this key become comments.": "سطرهای این کلید کامنت می‌شوند.",
    "Nothing was checked.": "چیزی بررسی نشد.",
    "Nothing was found that holds training back.": "مانعی برای سرعت آموزش پیدا نشد.",
    "Nothing is advised.": "توصیه‌ای نیست.",
    "Nothing more is known about this.": "بیش از این چیزی نمی‌دانیم.",
}
