"""What the rules find and what they leave alone. In a row of SAID, ⟦…⟧ marks the secret; other rows hold none."""

from __future__ import annotations

import base64
import itertools
import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.stores.secrets import (
    SecretSpan,
    caption_is_safe,
    find_references,
    find_secrets,
    reference,
    replace_secrets,
    restore_references,
)
from hexamem.stores.secrets.checksums import (
    aba_is_valid,
    base58check_is_valid,
    card_network,
    chinese_id_is_valid,
    cpf_is_valid,
    dni_is_valid,
    iban_is_valid,
    luhn_is_valid,
    ssn_is_valid,
    verhoeff_is_valid,
)

SHARED = Path(__file__).parents[2] / "shared"

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM) -> str:
    """Random-looking text, the same at every run; tokens are made here so that none stands in the repository."""
    source = random.Random(f"{length}{alphabet}")
    text = [source.choice(alphabet) for _ in range(length)]
    if alphabet.startswith(ALNUM) and length >= 8:
        text[2], text[length // 2], text[-1] = "7", "4", "9"  # a run of letters alone is possible, and no token
    return "".join(text)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': '1234567890', 'name': 'Ann'})}.{drawn(43)}"
PEM_BODY = "\n".join(drawn(64, ALNUM + "+/") for _ in range(6))


def pem(label: str) -> str:
    return f"-----BEGIN {label}-----\n{PEM_BODY}\n-----END {label}-----"


BIP39 = [
    "abandon",
    "ability",
    "able",
    "about",
    "above",
    "absent",
    "absorb",
    "abstract",
    "absurd",
    "abuse",
    "access",
    "accident",
]
TWELVE = " ".join(BIP39)
NUMBERED = " ".join(f"{i}. {w}" for i, w in enumerate(BIP39, 1))
WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"

# kind, sentence
TOKENS: list[tuple[str, str]] = [
    ("api_key", f"here is my key ⟦sk-{drawn(48)}⟧"),
    ("api_key", f"OPENAI_API_KEY=⟦sk-proj-{drawn(80, ALNUM + '_-')}x⟧"),
    ("api_key", f"use ⟦sk-ant-api03-{drawn(93, ALNUM + '_-')}AA⟧ for claude"),
    ("api_key", f"openrouter: ⟦sk-or-v1-{drawn(64, HEX)}⟧"),
    ("api_key", f"aws_access_key_id = ⟦AKIA{drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}⟧"),
    ("api_key", f"aws_secret_access_key = ⟦{drawn(40, ALNUM + '+/')}⟧"),
    ("api_key", f"The AWS secret access key is ⟦{drawn(40)}⟧."),
    ("token", f"git clone with ⟦ghp_{drawn(36)}⟧ please"),
    ("token", f"token: ⟦github_pat_{drawn(22)}_{drawn(59)}⟧"),
    ("token", f"GitLab: ⟦glpat-{drawn(20)}⟧, read only"),
    ("api_key", f"maps key ⟦AIza{drawn(35)}⟧"),
    ("api_key", f"client_secret: ⟦GOCSPX-{drawn(28)}⟧"),
    ("token", f"slack bot ⟦xox{'b'}-{drawn(12, '0123456789')}-{drawn(13, '0123456789')}-{drawn(24)}⟧"),
    ("webhook", f"post to ⟦https://hooks.slack.com/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}⟧"),
    ("webhook", f"⟦https://discord.com/api/webhooks/{drawn(18, '0123456789')}/{drawn(68)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(24)}⟧"),
    ("api_key", f"stripe ⟦sk_{'live'}_{drawn(99)}⟧"),
    ("api_key", f"stripe test ⟦sk_{'test'}_{drawn(24)}⟧"),
    ("api_key", f"twilio key sid ⟦SK{drawn(32, HEX)}⟧"),
    ("api_key", f"sendgrid: ⟦SG.{drawn(22)}.{drawn(43)}⟧"),
    ("token", f"huggingface-cli login --token ⟦hf_{drawn(34)}⟧"),
    ("token", f"//registry.npmjs.org/:_authToken=⟦npm_{drawn(36)}⟧"),
    ("token", f"twine upload -p ⟦pypi-AgEIcHlwaS5vcmc{drawn(90)}⟧"),
    ("token", f"my telegram bot: ⟦{drawn(10, '123456789')}:AA{drawn(33)}⟧"),
    ("token", f"discord bot ⟦M{drawn(24)}.{drawn(6)}.{drawn(27)}⟧ runs"),
    ("api_key", f"groq ⟦gsk_{drawn(52)}⟧"),
    ("api_key", f"mailgun ⟦key-{drawn(32, HEX)}⟧"),
    ("api_key", f"mailchimp ⟦{drawn(32, HEX)}-us12⟧"),
    ("token", f"do token ⟦dop_v1_{drawn(64, HEX)}⟧"),
    ("token", f"shop ⟦shpat_{drawn(32, HEX)}⟧"),
    ("token", f"notion ⟦ntn_{drawn(11, '0123456789')}{drawn(35)}⟧"),
    ("token", f"databricks ⟦dapi{drawn(32, HEX)}⟧"),
    ("token", f"vault ⟦hvs.{drawn(92)}⟧"),
    ("token", f"jwt is ⟦{JWT}⟧."),
    ("token", f"curl -H 'Authorization: Bearer ⟦{drawn(40)}⟧' https://api.example.com"),
    ("password", f"Authorization: Basic ⟦{base64.b64encode(b'ann:secret99').decode()}⟧"),
    ("password", "clone https://ann:⟦s3cr3tpw⟧@git.example.com/repo.git"),
    ("connection_string", "DATABASE_URL=postgresql://app:⟦p4ssw0rd!x⟧@db.internal:5432/app"),
    ("connection_string", "mongodb+srv://root:⟦Tr0ub4dor⟧@cluster0.abc.mongodb.net/test"),
    ("connection_string", "redis://:⟦r3disPass99⟧@10.0.0.5:6379/0"),
    ("password", "Server=db1;Database=shop;User Id=sa;Password=⟦Str0ng!Pass⟧;"),
    ("api_key", f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=⟦{drawn(86, ALNUM + '+/')}==⟧;"),
    ("private_key", f"my key:\n⟦{pem('RSA PRIVATE KEY')}⟧\nthanks"),
    ("private_key", f"⟦{pem('OPENSSH PRIVATE KEY')}⟧"),
    ("private_key", f"⟦{pem('PGP PRIVATE KEY BLOCK')}⟧"),
    ("private_key", f"cut off ⟦-----BEGIN EC PRIVATE KEY-----\n{PEM_BODY}⟧"),
    ("private_key", f"age: ⟦AGE-SECRET-KEY-1{drawn(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}⟧"),
    ("private_key", f"wallet ⟦{WIF}⟧"),
    ("private_key", f"eth private key: ⟦0x{drawn(64, HEX)}⟧"),
    ("token", f"otpauth://totp/Site:ann?secret=⟦{drawn(32, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}⟧&issuer=Site"),
    ("password", "WIFI:S:Home;T:WPA;P:⟦blue-fish-42⟧;;"),
    ("token", f"DISCORD_TOKEN = '⟦{drawn(40)}⟧'"),
    ("api_key", f'"api_key": "⟦{drawn(16)}⟧"'),
    ("api_key", f"My weather API key is ⟦{drawn(32, HEX)}⟧, keep it"),
    ("token", f"the refresh token is ⟦{drawn(40)}⟧"),
    ("api_key", "SECRET_KEY = 'django-insecure-⟦⟧'".replace("django-insecure-⟦⟧", f"⟦django-insecure-{drawn(50)}⟧")),
    ("api_key", f"我的 API密钥是⟦{drawn(32)}⟧，别外传"),
    ("license_key", "The Windows license key is ⟦VK7JG-NPHTM-C97JM-9MPGT-3V66T⟧"),
]

SENTENCES: list[tuple[str, str]] = [
    ("password", "the wifi password is ⟦hunter2⟧!"),
    ("password", 'the wifi password is "⟦hunter2!⟧"'),
    ("password", "my password is ⟦swordfish⟧."),
    ("password", "Password: ⟦Tr0ub4dor&3⟧"),
    ("password", "pw = ⟦qwerty99⟧"),
    ("password", "pwd: ⟦abc!234⟧, don't share"),
    ("password", "login: bob / pass: ⟦s3cret!x⟧"),
    ("password", "user: bob\npassword: ⟦opensesame⟧"),
    ("password", "username ann, password ⟦kitten2019⟧"),
    ("password", "creds are admin:⟦P@ssw0rd⟧"),
    ("password", "The password for the office router is ⟦blue42moon⟧, ok?"),
    ("password", "my Netflix password is now ⟦popcorn!77⟧"),
    ("password", "I changed my email password to ⟦Sunny2024⟧ yesterday"),
    ("password", "password has been changed to ⟦Winter#2024⟧"),
    ("password", "Use ⟦hunter2⟧ as the wifi password"),
    ("password", "'⟦open sesame 42⟧' is my laptop password"),
    ("password", "⟦Gr8tDane!⟧ is the password for the NAS"),
    ("password", "Password:\n⟦hunter2⟧"),
    ("password", "**Password:** `⟦hunter2⟧`"),
    ("password", "Password:\n```\n⟦x9!kk2Lm⟧\n```"),
    ("password", "DB_PASSWORD=⟦hunter2⟧"),
    ("password", "export PGPASSWORD='⟦s3cr3t⟧'"),
    ("password", '{"user": "bob", "password": "⟦hunter2⟧"}'),
    ("password", "password = '⟦letmein⟧'"),
    ("password", "mysql -u root -p⟦hunter2x⟧ shop"),
    ("password", "curl -u bob:⟦hunter2⟧ https://example.com"),
    ("password", "https://example.com/login?user=bob&password=⟦hunter2⟧&next=1"),
    ("password", "<password>⟦hunter2⟧</password>"),
    ("password", "My password's ⟦hunter2⟧"),
    ("password", "The password I use for Gmail is ⟦c0ffee-cup⟧"),
    ("password", "Password (guest wifi): ⟦welcome2day⟧"),
    ("password", "wifi pw hunter: no, it is wifi pw ⟦hunter22⟧"),
    ("password", "password: ⟦correct-horse-battery-staple⟧"),
    ("password", "the password is “⟦friend⟧”"),
    ("password", "密码是 ⟦abc12345⟧"),
    ("password", "WiFi密码：⟦home2024!⟧"),
    ("password", "我的邮箱密码是⟦qwe789rt⟧，记一下"),
    ("password", "银行卡密码：⟦482910⟧"),
    ("password", "支付密码改成了⟦135790⟧。"),
    ("password", "密碼：⟦Taipei101x⟧"),
    ("password", "口令：⟦芝麻开门⟧"),
    ("password", "密码是“⟦小猫爱吃鱼⟧”"),
    ("password", "账号bob123，密码⟦xyz98765⟧"),
    ("password", "ｐａｓｓｗｏｒｄ：⟦ｈｕｎｔｅｒ２⟧"),
    ("password", "Das WLAN-Passwort lautet ⟦Sonne123⟧."),
    ("password", "Mein Kennwort ist ⟦Apfel!99⟧"),
    ("password", "La contraseña del wifi es ⟦casa2020⟧"),
    ("password", "la clave es ⟦abc12345⟧"),
    ("password", "Le mot de passe est ⟦soleil42⟧."),
    ("password", "mot de passe : ⟦soleil42⟧"),
    ("password", "A senha é ⟦verao2023⟧"),
    ("password", "пароль: ⟦zima2024⟧"),
    ("password", "パスワードは⟦sakura88⟧です"),
    ("passphrase", "my passphrase: ⟦correct horse battery staple⟧"),
    ("passphrase", "The passphrase is ⟦purple monkey dishwasher⟧."),
    ("passphrase", 'SSH passphrase = "⟦the cat sat quietly⟧"'),
    ("access_code", "the laptop passcode is ⟦882211⟧"),
    ("pin", "PIN is ⟦4821⟧"),
    ("pin", "my card PIN: ⟦4821⟧."),
    ("pin", "The PIN for my Visa is ⟦9 0 2 1⟧".replace("9 0 2 1", "9021")),
    ("pin", "my pin is ⟦four eight two one⟧"),
    ("pin", "SIM PIN ⟦1357⟧"),
    ("pin", "⟦4821⟧ is my PIN"),
    ("one_time_code", "one-time code ⟦993 201⟧"),
    ("one_time_code", "Your verification code is ⟦482913⟧."),
    ("one_time_code", "⟦G-482913⟧ is your Google verification code"),
    ("one_time_code", "验证码 ⟦482913⟧"),
    ("one_time_code", "【银行】您的验证码是⟦482913⟧，5分钟内有效"),
    ("one_time_code", "OTP: ⟦771204⟧"),
    ("one_time_code", "Your Uber code is ⟦4821⟧"),
    ("one_time_code", "El código de verificación es ⟦553201⟧"),
    ("access_code", "the safe code is ⟦12-34-56⟧"),
    ("access_code", "door code: ⟦4471⟧"),
    ("access_code", "The code for the front door is ⟦4471#⟧"),
    ("access_code", "garage door code ⟦90210⟧"),
    ("access_code", "alarm code = ⟦2580⟧"),
    ("access_code", "gate code: ⟦A1B2⟧"),
    ("access_code", "locker combination is ⟦32-14-8⟧"),
    ("access_code", "Der Türcode ist ⟦5521⟧"),
    ("access_code", "le code de la porte est ⟦45B12⟧"),
    ("access_code", "门禁码是⟦8806⟧"),
    ("access_code", "提取码：⟦x7k9⟧"),
    ("recovery_code", "backup codes: ⟦8kf2-92la, 77xq-02mn, 1zp0-4rt5⟧"),
    ("seed_phrase", f"my seed phrase is ⟦{TWELVE}⟧."),
    ("seed_phrase", f"Recovery phrase:\n⟦{NUMBERED}⟧"),
    ("seed_phrase", f"助记词：⟦{TWELVE}⟧"),
]

# Written after the rules, to see how they carry over; what they missed then is in the rules now.
MORE: list[tuple[str, str]] = [
    ("password", "Hey, can you remember that my Gmail password is ⟦Blu3Sky!9⟧?"),
    ("access_code", "the new alarm code is ⟦9911⟧, please remember"),
    ("pin", "My bank PIN is ⟦7788⟧ and the card ends in 1111"),
    ("password", "FYI the wifi at the cabin is called PineNet and the password is ⟦woodsmoke⟧"),
    ("password", "wifi network HomeSweet password: ⟦sunflower88⟧"),
    ("password", "The password to my laptop is '⟦Il0veC@ts⟧'"),
    ("password", "Here's the login for the shared drive - user: team@acme.io, pw: ⟦Acme#2024⟧"),
    ("password", "my apple id password is ⟦Kangaroo-12-Jump⟧"),
    ("password", 'please save my password "⟦tiger lily 9⟧"'),
    ("access_code", "Note to self: locker combo ⟦14-22-8⟧"),
    ("iban", "remember: IBAN ⟦NL91 ABNA 0417 1643 00⟧"),
    ("password", "The Wi-Fi password at the office changed to ⟦BlueWhale_55⟧."),
    ("password", "It's ⟦hunter2,⟧ that's my password"),
    ("password", "pass is ⟦hunter2⟧"),
    ("password", "My password is ⟦correct horse battery staple⟧"),
    ("password", "passwd: ⟦toor1234⟧"),
    ("password", "root password: ⟦toor⟧"),
    ("password", "PASSWORD=⟦admin123⟧"),
    ("password", 'set the password to "⟦admin⟧" for now'),
    ("password", "the password is ⟦admin⟧"),
    ("password", "sudo password is ⟦raspberry⟧"),
    ("access_code", "phone passcode ⟦258013⟧"),
    ("access_code", "my phone unlock code is ⟦258013⟧"),
    ("pin", "pin number is ⟦3344⟧"),
    ("pin", "The ATM pin is ⟦3344⟧."),
    ("pin", "voicemail pin - ⟦0987⟧"),
    ("pin", "my pin's ⟦4432⟧"),
    ("one_time_code", "otp is ⟦123456⟧"),
    ("one_time_code", "Use ⟦993201⟧ to verify your account"),
    ("one_time_code", "⟦123456⟧ is your OTP"),
    ("one_time_code", "Your code: ⟦445566⟧"),
    ("access_code", "code is ⟦5566⟧ for the gate"),
    ("access_code", "garage keypad: ⟦7722⟧"),
    ("access_code", "the key safe code is ⟦1066⟧"),
    ("api_key", "api key: ⟦8f14e45fceea167a5a36dedd4bea2543⟧"),
    ("api_key", "secret: ⟦JBSWY3DPEHPK3PXP⟧"),
    ("token", "2FA secret is ⟦JBSW Y3DP EHPK 3PXP⟧"),
    ("api_key", "client id 12345, client secret ⟦9aF3kLm2Qw8ZxY7t⟧"),
    ("api_key", "X-API-Key: ⟦5d41402abc4b2a76⟧"),
    ("passphrase", "my ssh passphrase is ⟦blue-otter-sings⟧"),
    ("password", "我家wifi密码是⟦88888888⟧"),
    ("password", "家里WiFi的密码：⟦xiaoming1990⟧"),
    ("password", "微信支付密码是 ⟦198705⟧"),
    ("password", "我的密码：⟦Abc@12345⟧，请记住"),
    ("password", "登录密码为⟦Pass1234⟧"),
    ("password", "门锁密码是 ⟦369258#⟧"),
    ("password", "保险箱密码 ⟦12 34 56⟧"),
    ("password", "手机解锁密码是⟦2580⟧"),
    ("password", "QQ密码改成⟦qq998877⟧了"),
    ("password", "用户名：admin 密码：⟦admin888⟧"),
    ("password", "账号：13812345678，密码：⟦zxcvbnm1⟧"),
    ("one_time_code", "验证码为 ⟦8842⟧，请勿泄露"),
    ("one_time_code", "【支付宝】校验码：⟦334455⟧"),
    ("password", "Mein WLAN-Passwort: ⟦Sommer2024⟧!"),
    ("pin", "Die PIN meiner EC-Karte ist ⟦1234⟧"),
    ("pin", "Meine PIN lautet ⟦9876⟧"),
    ("pin", "El PIN de mi tarjeta es ⟦4455⟧"),
    ("password", "la contraseña de mi correo es ⟦Perro123⟧!"),
    ("password", "Mon mot de passe Netflix est ⟦chat2000⟧"),
    ("access_code", "le code wifi est ⟦12AB34CD⟧"),
    ("pin", "Le code PIN de ma carte est ⟦5566⟧"),
    ("national_id", "my ssn: ⟦536-90-4399⟧"),
    ("password", "jdbc:mysql://db:3306/x?user=root&password=⟦s3cr3t⟧"),
    ("password", "ftp://bob:⟦hunter2⟧@ftp.example.com"),
    ("password", "the password for my bank app is ⟦Rain-Bow7⟧"),
    ("password", "Can you store this? Password to Spotify: ⟦m3l0dy*lane⟧"),
    ("password", "my new pw is ⟦tango-foxtrot-9⟧"),
    ("password", "I set my Instagram password as ⟦Flower#33⟧"),
    ("password", 'hulu password is "⟦watch me 22⟧"'),
    ("pin", "Our house alarm PIN is ⟦60412⟧"),
    ("access_code", "The lockbox code is ⟦0315⟧."),
    ("access_code", "the gate opens with code ⟦7788#⟧"),
    ("access_code", "Use the passcode ⟦445566⟧ to get in"),
    ("access_code", "the key to the safe is under the mat, combination ⟦22-7-41⟧"),
    ("card_number", "Amex ⟦371449635398431⟧"),
    (
        "seed_phrase",
        "my wallet recovery phrase is: ⟦legal winner thank year wave sausage worth useful legal winner thank yellow⟧",
    ),
    ("token", "bearer token: ⟦7c9e6679f7425de0944be07fc1f90ae7⟧"),
    ("token", "Twilio auth token ⟦4f1c2d3e5a6b7c8d9e0f1a2b3c4d5e6f⟧"),
    ("password", "our db creds: postgres / ⟦Elephant!55⟧"),
    ("password", "ssh root@10.0.0.1 password: ⟦qazWSX12⟧"),
    ("password", "zip file password is ⟦1234⟧"),
    ("password", "pdf password = ⟦invoice2024⟧"),
    ("password", "pwd=⟦Pa55w0rd⟧"),
    ("card_number", "account number: ⟦4417 1234 5678 9113⟧"),
    ("password", "wifi密码：⟦12345678⟧"),
    ("password", "公司WIFI密码是 ⟦Company@2024⟧"),
    ("password", "邮箱密码：⟦hello_world_99⟧"),
    ("password", "门锁的密码是 ⟦778899⟧"),
    ("one_time_code", "你的登录验证码是 ⟦920134⟧"),
    ("password", "取款密码 ⟦334455⟧"),
    ("pin", "Mein PIN-Code lautet ⟦4711⟧"),
    ("password", "Das Passwort für Netflix ist ⟦Kino2023⟧"),
    ("password", "mi contraseña: ⟦Gato_2020⟧"),
    ("access_code", "Le code du portail est ⟦4589⟧"),
    ("access_code", "le digicode est ⟦14B52⟧"),
    ("password", "la password del wifi è ⟦ciao1234⟧"),
    ("password", "minha senha do banco é ⟦Praia2022⟧"),
]

NUMBERS: list[tuple[str, str]] = [
    ("card_number", "my card is ⟦4111 1111 1111 1111⟧"),
    ("card_number", "Visa ⟦4012888888881881⟧ exp 12/27"),
    ("card_number", "⟦5555-5555-5555-4444⟧"),
    ("card_number", "amex ⟦3782 822463 10005⟧"),
    ("card_number", "discover ⟦6011111111111117⟧"),
    ("card_number", "jcb ⟦3530 1113 3330 0000⟧"),
    ("card_number", "银行卡号 ⟦6222 0212 3456 7890 128⟧"),
    ("card_number", "卡号：⟦6217000010000000003⟧"),
    ("card_number", "2024-01-05 paid with ⟦5105105105105100⟧, thanks"),
    ("card_cvv", "and the cvv is ⟦123⟧"),
    ("iban", "IBAN: ⟦DE89 3704 0044 0532 0130 00⟧"),
    ("iban", "pay to ⟦GB82WEST12345698765432⟧ please"),
    ("iban", "iban ⟦fr1420041010050500013m02606⟧"),
    ("bank_account", "routing number ⟦021000021⟧"),
    ("bank_account", "my account number is ⟦000123456789⟧"),
    ("bank_account", "sort code ⟦20-00-00⟧"),
    ("bank_account", "Kontonummer: ⟦532013000⟧"),
    ("bank_account", "银行账号：⟦1234567890123⟧"),
    ("national_id", "身份证号⟦11010519491231002X⟧"),
    ("national_id", "⟦110101199003070038⟧ 是我的身份证"),
    ("national_id", "my SSN is ⟦219-09-9999⟧"),
    ("national_id", "ssn ⟦219099999⟧"),
    ("national_id", "social security number: ⟦078 05 1120⟧"),
    ("national_id", "My passport number is ⟦X1234567⟧"),
    ("national_id", "护照号：⟦E12345678⟧"),
    ("national_id", "NINO ⟦QQ 12 34 56 C⟧"),
    ("national_id", "my locker is upstairs and my NI number is ⟦QQ123456C⟧"),
    ("national_id", "NI no. ⟦QQ 12 34 56 C⟧"),
    ("national_id", "Aadhaar: ⟦2341 2341 2346⟧"),
    ("national_id", "mi DNI es ⟦12345678Z⟧"),
    ("national_id", "CPF ⟦529.982.247-25⟧"),
    ("national_id", "driver's license number is ⟦D1234567⟧"),
]

SAID = TOKENS + SENTENCES + MORE + NUMBERS

NOT_SECRET = """
my password is too long
I forgot my password
I forgot my password again, can you reset it?
the key is to stay calm
the secret is love
The secret to a happy life is patience
密码忘了
密码忘了怎么办
密码是多少？
密码错误3次
密码必须8位以上
密码是必填项
密码长度6-20位
请输入密码：
密码2023年改的
我的密码很长
口令是什么？
验证码收不到
验证码是什么东西
钥匙在桌上
password = input()
password: required
password: str
password: str = Field(..., min_length=8)
password: String,
password = getpass.getpass("Password: ")
password = os.environ["DB_PASSWORD"]
password=password
password: self.password,
password = config['password']
user.password = new_password
if password == stored_hash:
def login(username, password):
password: ********
password: <your password>
password: ${DB_PASSWORD}
password={{ db_password }}
Password: your_password_here
api_key = "your-api-key"
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=sk-your-api-key-goes-here
Set the environment variable OPENAI_API_KEY=<key>
token = generate_access_token(user)
token: string
pass: I'll pass
Pass: 85% of the students
I'll pass on dessert
pass the salt, please
Please pass: the exam is on Monday
token of appreciation
as a token of my gratitude, here is a cake
He bought 300 tokens at the arcade
The model has a context of 128000 tokens
The key takeaway is that exercise helps
The key ingredient is fresh basil
My key is on the table
My car key is broken
the piano piece is in the key of C# minor
The public key is ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8 ann@host
primary key: user_id
foreign key = orders.customer_id
key: value
Press any key: the game starts
Press the F5 key 10 times
secret santa is on Friday
It's a secret: Tom is moving to Lisbon
Can you keep a secret? Ann is pregnant
Victoria's Secret: 20% off
my password is weak
Your password is incorrect.
The password is case-sensitive
The password is required.
your password is expired
The password is unbreakable!
the password is wrong
The password is 12 characters long
The password is at least 8 characters.
password: must be 8-16 characters
Password: minimum 8 characters with one number
The password was changed yesterday
The password is the same as before.
My password is Tom's birthday
A strong password is important, but a password manager is better
Is your password secure?
What is the password?
What's the wifi password?
The wifi password is on the fridge
The wifi password is written on the router.
Do you remember the password for the router?
1Password is a password manager
LastPass: a password manager
The password manager is Bitwarden
password reset link: https://example.com/reset
password hashing: SHA-256 or bcrypt
Passwords are hashed with argon2id
I use the same password everywhere
My password has 2FA enabled
Two-factor authentication: a password and a code
The password field is empty
enter your username and password to continue
He told me the password but I didn't listen
PIN board
I need a pin and a needle
Pin 13 is the LED on the Arduino
Connect pin 4 to ground
pin 2048 lines to the board
I'll pin it at 1200 on the board
Pinterest has 450000 pins
My postal PIN code is 560001, Bangalore
Delivery area pin code: 110001
bowling pin 1000
The zip code is 90210
Zip code: 10001
area code 415
My area code is 2125
country code: 0086
error code 4040
Error code: 80070005
The error code is 50012
exit code 1337
status code: 4004
promo code: SAVE2020
Use promo code WELCOME10 for 10% off
discount code is SUMMER25
The dress code is 1920s glam
the source code is 2000 lines long
The building code is 2018 IBC compliant
booking code: 77812
Your confirmation code for the flight is XK93LM
the course code is 6006
I wrote 2000 lines of code today
code 4821 was deprecated
My code is 300 lines
the QR code is 4567 pixels wide
product code: 7712345
color code: 112233
The code review is 2024-05-06
order ORD-4471
Order number 4111 1111 was delayed
My order number is 112-4456789-1234567
tracking number 1Z999AA10123456784
tracking number: 9400111899223100001234
ISBN 978-3-16-148410-0
ISBN 9780306406157
call me at +1 415 555 2671
My number is (415) 555-2671
Phone: 415-555-2671
call 020 7946 0958
电话13812345678
电话：010-6552 9988
on 2024-01-05 at 10:30
2024-01-05T10:00:00Z
1704448800
1704448800123
17044488001234567
The meeting is at 10:30 on 05/06/2024
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
see 9fceb02
uuid 550e8400-e29b-41d4-a716-446655440000
request id: 550e8400-e29b-41d4-a716-446655440000
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
md5 d41d8cd98f00b204e9800998ecf8427e
version 1.2.3
v2.10.4-rc1
Python 3.11.4
192.168.100.101
it costs $1,299.99
¥12,800 for two nights
1234 5678 9012 3456
1111 1111 1111 1111
2019 2020 2021 2022 2023
population 1412000000
3.14159265358979323846
0.4111111111111111
room 4471
Flight UA 4471 leaves at 6
I live at 1234 Main Street
The account is overdue
My account was hacked
account number unknown
my bank account is empty
The routing is broken
Part 123-45-6789 is out of stock
order 123-45-6789
social security is complicated
my passport expires in 2029
passport control took 45 minutes
Step 2 is the password reset
This is my password manager
Love is the password to happiness
log in with admin: true
login: see below
Login: https://example.com/login
credentials: include
user: bob, role: admin
bearer of bad news
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
basic knowledge of statistics
seed phrase backup is important
plant the seeds in spring
Never share your recovery phrase with anyone because they could steal everything you have worked for
The recovery took twelve long weeks and then another few days of rest before work
mnemonic: my very educated mother just served us nachos
postgres://user:password@localhost/db
postgresql://localhost:5432/app
https://example.com:8080/path@2x.png
http://user@example.com
email me: ann.lee@example.com
-----BEGIN PUBLIC KEY-----
The file starts with -----BEGIN RSA PRIVATE KEY----- and then base64
{{vault:s1|password of the wifi}} is my password
the wifi password is {{vault:s1|password of the wifi}}
PIN: {{vault:7f3a2b|PIN of the card 4821}}
risk-management-for-small-teams-in-2024
task-sk-1234
task_force_2024_budget_final_v2
import numpy as np  # 1.26.4
the combination of 3 and 4 is 12
a combination of 2000 people
tan 2000 degrees
I got a tan in 2023
my locker is number 4471
Der Schlüssel ist Geduld
Das Passwort ist falsch
Mein Passwort ist zu lang
Ich habe mein Passwort vergessen
La clave es la paciencia
la contraseña es incorrecta
Le mot de passe est incorrect
j'ai oublié mon mot de passe
la clé du succès est le travail
password: the one thing I always forget
Passwords: 5 tips for staying safe
The password is usually printed on the back
The default password is admin on most routers, so change it
my password is compromised, what should I do?
Password must be: long, unique, random
My password is longer than yours
Your password is about to expire
The password is in the email
password is case sensitive
My password: I keep forgetting it
Do you know her password? No.
password (optional)
password, PIN and fingerprint
password=True
password: bool = False
"password": null
"password": "string"
- password: text
| password | string | required |
passwordless login is 2 times faster
The wifi is down again
wifi: 5GHz
WPA2 password is required
The code is 80% done
the code is clean
the code is on GitHub
code: 200
Response code: 4040
My code is broken since 2023
QR code: 25mm
dress code: black tie
zip code 94107-1234
Country code +44
HS code 85171200
the answer is 4821
the number is 4821
it opened in 1987
PIN diode
PIN: see the back of the card
pin the tail on the donkey
I lost my pin
pins 10 and 12
tan lines
The combination is powerful
a winning combination: 2 eggs and flour
key: C major
Key findings: 45% of the users
key=lambda x: x[1]
keys: 88
The key is under the mat
token count: 4096
max_tokens=1024
tokens: 15000
num_tokens: 128000 per minute
secret ingredient: love
my secret is that I can't swim
secretary: 555-1234
access token expires in 3600 seconds
The API key is stored in the vault
api key: see the dashboard
API keys: how to rotate them
Set `api_key` to your key
api_key: str | None = None
client.api_key = settings.api_key
token = request.headers["X-Token"]
key = hashlib.sha256(data).hexdigest()
secret = secrets.token_hex(32)
password = secrets.token_urlsafe(16)
password: Optional[str] = None,
PASSWORD = config("DB_PASSWORD")
raise ValueError("password: too short")
print(f"password: {password}")
if len(password) < 8: return "weak"
assert user.check_password('x')
<input type="password" name="password">
label: "Password"
placeholder="Password"
My account number of followers is 12000
account 2023 results
account no longer active
Order 4532015112830366 shipped
tracking 4532015112830366
order #4111111111111111
4111111111111112
Tel. 030 1234567
fax 415-555-0199
Invoice 2024-00123
license plate: ABC-1234
driver's license renewal is 45 dollars
passport photo 35x45 mm
meeting ID: 871 2345 6789
Zoom meeting 871 2345 6789 passcode required
flight LH1234 seat 22A
GPS 52.5200, 13.4050
52.520008,13.404954
ratio 1234:5678
10.1000/xyz123
arXiv:2310.06825
doi 10.1145/3292500.3330701
1,234,567,890
1 000 000 000 000
00:1A:2B:3C:4D:5E
fe80::1ff:fe23:4567:890a
a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2
sha1: da39a3ee5e6b4b0d3255bfef95601890afd80709
Merge commit a1b2c3d into main
model gpt-4o-2024-08-06
claude-3-5-sonnet-20241022
BTC 1BoatSLRHtKNngkdXEeobR76b53LETtpyT
0x742d35Cc6634C0532925a3b844Bc454e4438f44e
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
https://example.com/a/b?id=8f14e45fceea167a5a36dedd4bea2543
https://youtu.be/dQw4w9WgXcQ?t=42
https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit
s3://bucket/key/2024/01/05/file.parquet
C:\\Users\\bob\\key\\token.txt
密码学很有意思
密码：请联系管理员
密码保护功能已开启
我换了密码
密码太简单了
关键是保持冷静
这是秘密
验证码已发送
验证码：60秒后重试
代码有300行
编码：UTF-8
邮编：100080
订单号：202401051234567890
身份证过期了
卡号忘了
口令不对
暗号是什么
Passwort vergessen?
Passwort: mindestens 8 Zeichen
PIN vergessen
contraseña: obligatoria
¿Cuál es la contraseña?
Mot de passe oublié ?
Mot de passe : 8 caractères minimum
le code est 2 fois plus rapide
el código postal es 28013
código: 404
I have 2 passwords, 3 PINs and 12 codes
basic 1234567890123456 things
He is the bearer of 123456789012345678901234567890
I work at 1Password123
He passed the test with 95 points
My password history has 12 entries
the wifi password changed, ask Tom
The password is different for each room
Password: same as last time
I told you the password yesterday
password: whatever you like
my password is basically unguessable
Whats your password?
The secret password in the story was a riddle
the password thing is annoying
password is never stored in plain text
password is optional for local users
code: see attached
The code is in the repo
Our code is MIT licensed
the entry code changed
the door code doesn't work
safe code review practices
access code of conduct
verification code not received
Your code is ready for review
The key is 42
the token is expired
secret menu: burger
The secret is out
key performance: 98.6%
Monkey: 1234567890abcdef
the turkey is 12 pounds
API key rotation happens every 90 days
pin 3 and pin 2048
spin 1234 times
the pin is bent
password spraying: 10000 attempts
My order: 4 pizzas
ticket 5500 0000
table 12, seat 4
the combination of A1 and B2
account: bob@example.com
card 12 of 52
my card is a Visa
birthday 1990-01-01
身高180，体重75
密码箱很重
我的生日是19900101
密码本在抽屉里
房间号是 8806
车牌号粤B12345
Mein Code ist sauber
Das Kennwort wurde geändert
La contraseña cambió ayer
le code de conduite
mot de passe: à définir
""".strip().splitlines()


def unmark(row: str) -> tuple[str, str]:
    before, rest = row.split("⟦")
    value, after = rest.split("⟧")
    return before + value + after, value


def found_in(text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.kind) for span in find_secrets(text)]


def test_every_secret_is_found_at_its_exact_place_and_kind() -> None:
    cases = [(*unmark(row), kind) for kind, row in SAID]
    assert [(text, found) for text, value, kind in cases if (found := found_in(text)) != [(value, kind)]] == []


def test_ordinary_talk_holds_no_secret() -> None:
    assert {text: found for text in NOT_SECRET if (found := found_in(text))} == {}


def test_ordinary_talk_taken_as_one_text_holds_no_secret() -> None:
    text = "\n".join(line for line in NOT_SECRET if not line.endswith((":", "：")))
    assert [(text[s.start : s.end], s.kind) for s in find_secrets(text)] == []


def test_the_tables_cover_what_they_promise() -> None:
    assert len(SAID) >= 220
    assert len(NOT_SECRET) >= 400
    assert len(set(NOT_SECRET)) == len(NOT_SECRET)
    assert {kind for kind, _ in SAID} >= {
        "password", "passphrase", "pin", "api_key", "token", "private_key", "connection_string", "card_number",
        "card_cvv", "iban", "bank_account", "national_id", "seed_phrase", "one_time_code", "access_code",
        "license_key", "webhook", "recovery_code",
    }  # fmt: skip


def test_a_caption_tells_nothing_of_the_secret() -> None:
    for text, value in (unmark(row) for _, row in SAID):
        for span in find_secrets(text):
            assert value not in span.caption
            assert value not in repr(span)
            assert value.casefold() not in span.caption.casefold()


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("the wifi password is hunter2!", "password of the wifi"),
        ("my Netflix password is now popcorn!77", "password of Netflix"),
        ("The password for the office router is blue42moon", "password of the office router"),
        ("use sk-ant-api03-" + drawn(95), "Anthropic API key"),
        ("card 4111 1111 1111 1111", "card number (Visa)"),
        ("my card PIN: 4821.", "PIN of the card"),
        ("door code: 4471", "access code of the door"),
    ],
)
def test_a_caption_says_what_the_secret_is(text: str, caption: str) -> None:
    assert [s.caption for s in find_secrets(text)] == [caption]


@pytest.mark.parametrize(
    "text",
    [
        "my netflix password is netflix123",
        "the password of hunter2 is hunter2",
        "my password is password1",
        "The door4471 door code is 4471",
        "银行密码是“银行2020”",
        "the PIN for card 4821 is 4821",
    ],
)
def test_a_caption_drops_words_that_the_secret_repeats(text: str) -> None:
    spans = find_secrets(text)
    assert spans
    for span in spans:
        assert caption_is_safe(span.caption, text[span.start : span.end])


def test_a_caption_never_holds_another_secret_of_the_text() -> None:
    text = "password for 4929x8821q is hunter2x and the password for me is 4929x8821q"
    assert {text[s.start : s.end] for s in find_secrets(text)} == {"hunter2x", "4929x8821q"}
    assert not any(v in s.caption for s in find_secrets(text) for v in ("hunter2x", "4929x8821q"))


def test_several_secrets_of_one_text_come_in_order_without_overlap() -> None:
    text = f"wifi password is hunter2, card 4111 1111 1111 1111 cvv 123, key ghp_{drawn(36)}, PIN 4821."
    spans = find_secrets(text)
    assert [s.kind for s in spans] == ["password", "card_number", "card_cvv", "token", "pin"]
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))


def test_a_token_that_a_sentence_names_is_one_secret() -> None:
    text = f"my GitHub token is ghp_{drawn(36)}."
    assert [s.caption for s in find_secrets(text)] == ["GitHub token"]


def test_the_same_text_gives_the_same_spans() -> None:
    text = "\n".join(unmark(row)[0] for _, row in SAID)
    assert find_secrets(text) == find_secrets(text)


def test_letters_that_grow_in_lower_case_do_not_move_the_span() -> None:
    text = "İİİİ the wifi password is hunter2!"
    assert [text[s.start : s.end] for s in find_secrets(text)] == ["hunter2"]


def test_secrets_are_replaced_by_references_with_their_captions() -> None:
    text = "the wifi password is hunter2!"
    assert replace_secrets(text, find_secrets(text), ["a1"]) == (
        "the wifi password is {{vault:a1|password of the wifi}}!"
    )


def test_a_text_with_references_has_no_secrets_left() -> None:
    for text, _ in (unmark(row) for _, row in SAID):
        spans = find_secrets(text)
        assert spans
        assert find_secrets(replace_secrets(text, spans, [f"id{i}" for i in range(len(spans))])) == ()


PIECES = st.one_of(
    st.sampled_from([unmark(row)[0] for _, row in SAID] + NOT_SECRET),
    st.text(max_size=40),
    st.sampled_from(
        ["password", ": ", " is ", '"', "{{vault:", "}}", "|", "密码", "：", "4111", "\n", "sk-", "PIN ", "-"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_restoring_the_references_gives_the_text_back(text: str) -> None:
    spans = find_secrets(text)
    ids = [f"secret-{i}" for i in range(len(spans))]
    replaced = replace_secrets(text, spans, ids)
    plaintexts = {name: text[s.start : s.end] for name, s in zip(ids, spans, strict=True)}
    assert restore_references(replaced, plaintexts) == text
    assert [r.id for r in find_references(replaced) if r.id in plaintexts] == ids


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_spans_are_ordered_lie_in_the_text_and_touch_no_reference(text: str) -> None:
    spans = find_secrets(text)
    taken = [(r.start, r.end) for r in find_references(text)]
    ends = 0
    for span in spans:
        assert ends <= span.start < span.end <= len(text)
        assert not any(span.start < end and start < span.end for start, end in taken)
        assert span.caption
        assert text[span.start : span.end] not in span.caption
        ends = span.end


@pytest.mark.parametrize(
    ("spans", "ids"),
    [([(4, 2)], ["a"]), ([(0, 99)], ["a"]), ([(0, 3), (2, 5)], ["a", "b"]), ([(0, 3)], []), ([(0, 3)], ["a b"])],
)
def test_spans_that_do_not_fit_the_text_are_refused(spans: list[tuple[int, int]], ids: list[str]) -> None:
    made = [SecretSpan(start=a, end=b, kind="password", caption="c", sensitivity="high") for a, b in spans]
    with pytest.raises(InvalidInputError):
        replace_secrets("hello world", made, ids)


@pytest.mark.parametrize("caption", ["a|b", "a}}b{{c", "line\nbreak", "", "x" * 500, "{{vault:x|y}}", "密码 of 家"])
def test_any_caption_survives_as_one_reference(caption: str) -> None:
    written = reference("id-1", caption)
    (found,) = find_references(f"before {written} after")
    assert found.id == "id-1"
    assert f"before {written} after"[found.start : found.end] == written


def test_text_that_only_resembles_a_reference_is_none() -> None:
    assert find_references("{{vault:}} {{vault:a}} {{vault:a|b} {vault:a|b}} {{vault:a b|c}}") == ()


def test_restoring_leaves_unknown_references_and_does_not_expand_twice() -> None:
    text = f"{reference('a', 'x')} and {reference('b', 'y')}"
    assert restore_references(text, {"a": reference("b", "y")}) == f"{reference('b', 'y')} and {reference('b', 'y')}"


HOSTILE = [
    "password is ", "password: ", "password for ", "sk-", "sk- ", "1 ", "1-", "4111 1111 ", "-----BEGIN RSA PRIVATE KEY-----",
    "://a:", "eyJ", "eyJhbGciOi.", '"', "password \"", "密码是", "a" * 50 + " password ", "AB12 ", "code for the ", "pin ",
    "seed abandon ", "token=", "x@y.z:", "/a", "WIFI:", "key: 'a", "pass pass ", "{{vault:", "{{vault:a|", "bearer ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_ends(piece: str) -> None:
    # A pattern with runaway backtracking would not come back from this at all.
    text = piece * (40_000 // len(piece))
    assert all(0 <= s.start < s.end <= len(text) for s in find_secrets(text))


def test_check_digits_tell_valid_numbers_from_altered_ones() -> None:
    checks = [
        (luhn_is_valid, "4111111111111111"),
        (iban_is_valid, "DE89370400440532013000"),
        (iban_is_valid, "GB82WEST12345698765432"),
        (aba_is_valid, "021000021"),
        (chinese_id_is_valid, "11010519491231002X"),
        (cpf_is_valid, "52998224725"),
        (dni_is_valid, "12345678Z"),
        (dni_is_valid, "X1234567L"),
        (verhoeff_is_valid, "234123412346"),
    ]
    for check, number in checks:
        assert check(number)
        for i, char in enumerate(number):
            if char.isdigit():
                assert not check(number[:i] + str((int(char) + 1) % 10) + number[i + 1 :]), (check, number, i)
    assert base58check_is_valid(WIF)
    assert not base58check_is_valid(WIF[:-1] + "K")
    assert not any(map(ssn_is_valid, ("000121234", "666121234", "900121234", "123001234", "123120000")))
    assert [card_network(n) for n in ("4" * 16, "5100" + "0" * 12, "9" * 16)] == ["Visa", "Mastercard", None]


@given(st.text(max_size=40))
def test_check_digit_functions_never_raise(text: str) -> None:
    for check in (luhn_is_valid, iban_is_valid, aba_is_valid, chinese_id_is_valid, cpf_is_valid, verhoeff_is_valid):
        assert check(text) in {True, False}
    assert ssn_is_valid(text) in {True, False}
    assert base58check_is_valid(text) in {True, False}
    assert dni_is_valid(text) in {True, False}
    assert card_network(text) is None or text.isdigit()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"text", "content"} and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


@pytest.mark.shared_data
def test_real_conversations_have_almost_no_false_hits() -> None:
    files = sorted((SHARED / "data").glob("locomo/*.json")) + sorted((SHARED / "data").glob("longmemeval/*.json"))
    if not files:
        pytest.skip("the real conversations are not beside the checkout")
    texts = [text for file in files for text in _texts(json.loads(file.read_text(encoding="utf-8")))]
    hits = [(t[s.start : s.end], s.kind) for t in texts for s in find_secrets(t)]
    assert len(texts) > 2000
    assert len(hits) <= 3, hits


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The door code is 4711-XK9.", "4711-XK9"),
        ("Our door code is 47-11-XK.", "47-11-XK"),
        ("the pin is 4821-AB", "4821-AB"),
        ("The gate code is 1234#A.", "1234#A"),
        ("The alarm code is ZK-9912.", "ZK-9912"),
    ],
)
def test_a_code_of_digits_and_letters_is_taken_whole(text: str, code: str) -> None:
    assert [text[span.start : span.end] for span in find_secrets(text)] == [code]


@pytest.mark.parametrize("text", ["the product code is AB-1234", "the pin is 4-digit", "the zip code is 94110-ab"])
def test_codes_that_are_no_secret_stay(text: str) -> None:
    assert not find_secrets(text)
